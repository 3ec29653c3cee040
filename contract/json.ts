declare const content: unique symbol

/** The JSON text of a value. A response with it is sent as it is. */
export type Json<Value> = string & { readonly [content]: Value }
