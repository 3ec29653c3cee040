// Generated from openapi.yaml by `npm run generate`; edit that instead.

export interface paths {
    "/plants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List plants
         * @description Plants in the order of their ids, a page at a time. While there are more, the answer has a `Link`
         *     header to the next page; its URL is relative to that of the request. A page may be shorter than
         *     `limit`, where plants are very large; only a missing `Link` says that it is the last one. Needs a
         *     token with the scope `read`.
         */
        get: operations["listPlants"];
        put?: never;
        /**
         * Create a plant
         * @description Stores a plant under the id that you choose. The same plant sent again changes nothing and
         *     is answered as the first time, so a retry is always safe. Needs a token with the scope
         *     `write`.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/plants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a plant
         * @description Answers with a plant and its `ETag`, which stays the same until the plant's name or tag changes.
         *     Needs a token with the scope `read`.
         */
        get: operations["getPlant"];
        /**
         * Replace a plant
         * @description Gives a plant another name and tag; without a `tag` it has none then. Does not create one: ids are
         *     chosen at creation. The answer has no `ETag`, as RFC 9110 §9.3.4 allows it only where the content
         *     sent is what a GET answers with. The response contains nothing that the client did not send. Needs a
         *     token with the scope `write`.
         */
        put: operations["replacePlant"];
        post?: never;
        /**
         * Delete a plant
         * @description Removes a plant; its id is free again then. Needs a token with the scope `write`.
         */
        delete: operations["deletePlant"];
        options?: never;
        head?: never;
        /**
         * Change a plant
         * @description Changes what the patch names and leaves the rest (JSON merge patch, RFC 7396): `tag: null` removes
         *     the tag. Sent as `application/json` it means the same. The response is the whole plant, so this
         *     operation both reads and writes. Needs a token with the scopes `read` and `write`.
         */
        patch: operations["updatePlant"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Plant: {
            /**
             * @description The name of the plant.
             * @example Abies alba Mill.
             */
            name: string;
            /**
             * @description Tag that specifies the type of the plant.
             * @example Tree
             */
            tag?: string;
        };
        NewPlant: components["schemas"]["Plant"] & {
            id: components["schemas"]["PlantId"];
        };
        /** @description A plant as it is in the store. */
        StoredPlant: {
            id: components["schemas"]["PlantId"];
        } & components["schemas"]["Plant"];
        /** @description A JSON merge patch for a plant; what it does not name stays as it is. */
        PlantPatch: {
            /** @description The new name. */
            name?: string;
            /** @description The new tag; null removes it. */
            tag?: string | null;
        };
        /**
         * Format: int64
         * @description Identification number of the plant.
         * @example 4
         */
        PlantId: bigint;
        /**
         * * or entity tags with a comma between
         * @description See RFC 9110 §8.8.3.
         * @example "0a1B2c3D4e5F6g7H8i9J0k"
         */
        EntityTags: string;
        Error: {
            /**
             * Format: int32
             * @description Numeric error value; the HTTP status times 100 plus the number of the condition.
             * @example 40002
             */
            error: number;
            /**
             * @description Error message text.
             * @example body/id must be an int64
             */
            message: string;
        };
    };
    responses: {
        /** @description The request is malformed or its content is not what the contract asks for. Nothing was stored. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is malformed or has a parameter that the contract does not allow. */
        BadParameters: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is malformed or its content is not what the contract asks for. Nothing was changed. */
        BadChange: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description No valid access token came with the request. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "WWW-Authenticate": components["headers"]["Challenge"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The token is valid, but lacks a scope that the operation needs. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "WWW-Authenticate": components["headers"]["Challenge"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request did not arrive in time. The connection is closed. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no plant with this id. */
        PlantNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The plant is not as in `If-Match`; somebody has changed it. It is untouched. */
        PlantChanged: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is larger than the service accepts. Nothing was stored. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body has a media type, a charset or a content coding that the operation does not take. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body has a media type, a charset or a content coding that the operation does not take. */
        UnsupportedPatch: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Accept-Patch": components["headers"]["AcceptPatch"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description Too many requests without a valid token came from this address, or the token exceeded its rate limit.
         *     Nothing was read or changed.
         */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers are larger than the service accepts. The connection is closed. */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service has a defect. Whether a change took effect is not known; repeat the request to find out. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request has a transfer coding other than `chunked` (RFC 9112 §6.1). Nothing was done. */
        NotImplemented: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service or its store is temporarily unavailable. Nothing acknowledged is lost; retry later. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /**
         * @description The id of the plant, in decimal: no `+`, no leading zero, no fraction, no exponent.
         * @example 4
         */
        PathId: components["schemas"]["PlantId"];
        /**
         * @description The `ETag` of what you have read, or several of them: if the plant has none of them any more, the
         *     answer is 412, and nothing is changed (RFC 9110 §13.1.1).
         */
        IfMatch: components["schemas"]["EntityTags"];
    };
    requestBodies: never;
    headers: {
        /** @description Tells the plant as it is from the plant as it was or will be (a strong entity tag, RFC 9110 §8.8.3). */
        ETag: string;
        /** @description The media types that the operation accepts (RFC 5789 §2.2). */
        AcceptPatch: string;
        /** @description The bearer challenge of RFC 6750 §3. Has no `error` when the request carried no token. */
        Challenge: string;
        /**
         * @description Identifies the request in the service's log. Quote it when you report a problem. The service
         *     generates it; a value sent by the client is ignored.
         */
        RequestId: string;
        /**
         * @description The limit that the request exceeded (draft-ietf-httpapi-ratelimit-headers-11): its name, the quota
         *     `q`, and the window `w` in seconds.
         */
        RateLimitPolicy: string;
        /**
         * @description What remains of that limit (draft-ietf-httpapi-ratelimit-headers-11): `r` requests, and `t` seconds
         *     until more are available.
         */
        RateLimit: string;
        /** @description Seconds to wait before the same request is worth sending again (RFC 9110 §10.2.3). */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPlants: {
        parameters: {
            query?: {
                /** @description How many plants to answer with, at most. */
                limit?: number;
                /**
                 * @description Answer with plants whose id is greater than this. To read on, follow the `Link` rather than
                 *     making this up.
                 */
                after?: components["schemas"]["PlantId"];
                /** @description Answer with plants that have exactly this tag, such as `Tree`. */
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of plants, which may be empty. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description Where the next page is (RFC 8288). Missing on the last page. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"][];
                };
            };
            400: components["responses"]["BadParameters"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The plant and its id. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description The plant is stored, by this request or by an earlier one with the same content. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plant"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description Another plant is stored under this id. It is untouched. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what you have, or several of them: answered with 304 while the plant has one of
                 *     them (RFC 9110 §13.1.2).
                 */
                "If-None-Match"?: components["schemas"]["EntityTags"];
                /**
                 * @description The `ETag` of what you have read, or several of them: if the plant has none of them any more, the
                 *     answer is 412, and nothing is changed (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The id of the plant, in decimal: no `+`, no leading zero, no fraction, no exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plant. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"];
                };
            };
            /** @description The plant is as in `If-None-Match`. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadParameters"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    replacePlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what you have read, or several of them: if the plant has none of them any more, the
                 *     answer is 412, and nothing is changed (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The id of the plant, in decimal: no `+`, no leading zero, no fraction, no exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        /** @description The name and, if it shall have one, the tag. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Plant"];
            };
        };
        responses: {
            /** @description The plant as it is now, on disk. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"];
                };
            };
            400: components["responses"]["BadChange"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what you have read, or several of them: if the plant has none of them any more, the
                 *     answer is 412, and nothing is changed (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The id of the plant, in decimal: no `+`, no leading zero, no fraction, no exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plant is gone, on disk. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadParameters"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
    updatePlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what you have read, or several of them: if the plant has none of them any more, the
                 *     answer is 412, and nothing is changed (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The id of the plant, in decimal: no `+`, no leading zero, no fraction, no exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        /** @description What to change. */
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["PlantPatch"];
                "application/json": components["schemas"]["PlantPatch"];
            };
        };
        responses: {
            /** @description The plant as it is now, on disk. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"];
                };
            };
            400: components["responses"]["BadChange"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedPatch"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
        };
    };
}
/** The parameters that have a default, by operation. */
export interface DefaultedParameters {
    listPlants: "limit";
    createPlant: never;
    getPlant: never;
    replacePlant: never;
    updatePlant: never;
    deletePlant: never;
}
