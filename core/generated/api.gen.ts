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
         * @description Returns plants in ascending id order, or as `sort` says, one page at a time. `Link` has the URL of the next page, relative to the
         *     request URL. A page can contain fewer plants than `limit`, or even none, although others match: only the last
         *     page has no `Link`. Requires the `read` scope.
         */
        get: operations["listPlants"];
        put?: never;
        /**
         * Create a plant
         * @description Stores a plant under an id of your choice. Creating the same plant again changes nothing and
         *     returns the same response, so it is always safe to retry. Requires the `write` scope.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change many plants
         * @description Makes 1 to 1,000 changes in one transaction: either all of them or none. They correspond to POST, PUT, PATCH and
         *     DELETE for one plant, with three differences: a change can name the content that it expects (`ifContent`) instead
         *     of a version (`ifMatch`); removing a plant that does not exist has no effect unless the change has either; and
         *     unknown properties are rejected. Each id can occur only once. Errors name the first change that failed by its
         *     index in the array, starting at 0. A list without `ifMatch` and `ifContent` is always safe to retry. A list that
         *     affects too much stored text gets 413: send fewer changes at a time. Requires the `write` scope.
         */
        patch: operations["changePlants"];
        trace?: never;
    };
    "/plants/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create many plants
         * @description Stores 1 to 1,000 plants in one transaction: either all of them or none. As with a single create, a
         *     plant that is already stored with the same content is not changed, so it is always safe to retry.
         *     Plants with the same id must be equal. Errors name a plant by its index in the array, starting at 0.
         *     Requires the `write` scope.
         */
        post: operations["createPlants"];
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
         * @description Returns a plant and its `ETag`, which stays the same until the plant changes. Requires the
         *     `read` scope.
         */
        get: operations["getPlant"];
        /**
         * Replace a plant
         * @description Replaces the content of an existing plant. Omitting `tag` removes the tag. The body can contain
         *     the plant's `id`, but cannot change it. The response contains only what you sent. If the plant was stored
         *     exactly as you sent it, the response has an `ETag`, so you can change it again without reading it first.
         *     Requires the `write` scope.
         */
        put: operations["replacePlant"];
        post?: never;
        /**
         * Delete a plant
         * @description Deletes a plant. Its id can then be reused. Requires the `write` scope.
         */
        delete: operations["deletePlant"];
        options?: never;
        head?: never;
        /**
         * Update a plant
         * @description Applies a JSON merge patch (RFC 7396). `tag: null` removes the tag. The patch can contain the plant's
         *     `id`, but cannot change it. It can also be sent as `application/json`. Requires the `read` and
         *     `write` scopes, because the response is the whole plant.
         */
        patch: operations["updatePlant"];
        trace?: never;
    };
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow changes
         * @description Returns the changes to the plants. Changes to one plant are in the order in which they were made, and a change
         *     that was acknowledged before another was requested comes first. Every page has a `Link` to the changes that
         *     follow it. Requires the `read` scope.
         *
         *     A page can end inside a batch or list of changes. To apply only whole ones, collect changes until one has
         *     `endsTransaction`.
         *
         *     With `Accept: text/event-stream`, the response is a stream of server-sent events, each with the JSON of a change
         *     as its `data` and the cursor as its `id`.
         *
         *     If the changes after a cursor are no longer retained, the response is 410: take a new cursor with
         *     `after=latest`, read all plants again, then follow the changes from that cursor.
         *     [The change feed](/documentation/guides/changes) lists the guarantees.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tags
         * @description Returns the tags that plants have, each once, one page at a time. Their order does not change. `Link` has the URL
         *     of the next page, relative to the request URL. Tags of more than 1,000 characters are omitted, so a page can
         *     contain fewer tags than `limit`: only the last page has no `Link`. Requires the `read` scope.
         */
        get: operations["listTags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect your token
         * @description Returns the name, scopes and expiry of the token that the request was sent with, and why the service accepts no
         *     changes, if it is a mirror or frozen. Requires no particular scope.
         */
        get: operations["getToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    newPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A plant was created
         * @description The body is the new plant.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. */
                    "webhook-id": components["parameters"]["WebhookId"];
                    /** @description The time of this attempt, in seconds since 1970. */
                    "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                    /** @description One or two signatures, separated by a space. One must match. */
                    "webhook-signature": components["parameters"]["WebhookSignature"];
                    /** @description The name of the event. */
                    "webhook-event": "newPlant";
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPlant"];
                };
            };
            responses: {
                410: components["responses"]["WebhookGone"];
                "2XX": components["responses"]["WebhookReceived"];
                default: components["responses"]["WebhookFailed"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    plantChanged: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A plant was changed
         * @description The body is the plant after the change.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. */
                    "webhook-id": components["parameters"]["WebhookId"];
                    /** @description The time of this attempt, in seconds since 1970. */
                    "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                    /** @description One or two signatures, separated by a space. One must match. */
                    "webhook-signature": components["parameters"]["WebhookSignature"];
                    /** @description The name of the event. */
                    "webhook-event": "plantChanged";
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPlant"];
                };
            };
            responses: {
                410: components["responses"]["WebhookGone"];
                "2XX": components["responses"]["WebhookReceived"];
                default: components["responses"]["WebhookFailed"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    plantRemoved: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A plant was removed
         * @description The body has the id of the plant.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. */
                    "webhook-id": components["parameters"]["WebhookId"];
                    /** @description The time of this attempt, in seconds since 1970. */
                    "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                    /** @description One or two signatures, separated by a space. One must match. */
                    "webhook-signature": components["parameters"]["WebhookSignature"];
                    /** @description The name of the event. */
                    "webhook-event": "plantRemoved";
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RemovedPlant"];
                };
            };
            responses: {
                410: components["responses"]["WebhookGone"];
                "2XX": components["responses"]["WebhookReceived"];
                default: components["responses"]["WebhookFailed"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** Plant */
        Plant: {
            /**
             * @description The name of the plant.
             * @example Abies alba Mill.
             */
            name: string;
            /**
             * @description The type of plant.
             * @example Tree
             */
            tag?: string;
        };
        /** NewPlant */
        NewPlant: components["schemas"]["Plant"] & {
            id: components["schemas"]["PlantId"];
        };
        /**
         * RemovedPlant
         * @description A plant that was removed.
         */
        RemovedPlant: {
            id: components["schemas"]["PlantId"];
        };
        /**
         * StoredPlant
         * @description A stored plant, including its id.
         */
        StoredPlant: {
            id: components["schemas"]["PlantId"];
        } & components["schemas"]["Plant"];
        /**
         * PlantReplacement
         * @description The new content of a plant.
         */
        PlantReplacement: components["schemas"]["Plant"] & {
            id?: components["schemas"]["UnchangedId"];
        };
        /**
         * PlantPatch
         * @description A JSON merge patch for a plant. Omitted properties stay unchanged.
         */
        PlantPatch: {
            id?: components["schemas"]["UnchangedId"];
            /** @description The new name. */
            name?: string;
            /** @description The new tag, or null to remove the tag. */
            tag?: string | null;
        };
        /**
         * BatchResult
         * @description How many plants of a batch were created, and how many were already stored.
         */
        BatchResult: {
            /**
             * Format: int32
             * @description The number of plants that this request stored.
             * @example 998
             */
            created: number;
            /**
             * Format: int32
             * @description The number of plants that were already stored with the same content, or were repeated within the
             *     batch.
             * @example 2
             */
            replayed: number;
        };
        /**
         * PlantChange
         * @description A change to one plant. `op` selects its kind.
         */
        PlantChange: components["schemas"]["PlantCreate"] | components["schemas"]["PlantReplace"] | components["schemas"]["PlantUpdate"] | components["schemas"]["PlantRemove"];
        /**
         * PlantCreate
         * @description Creates a plant, like `POST /plants`.
         */
        PlantCreate: {
            /** @enum {string} */
            op: "create";
            id: components["schemas"]["PlantId"];
        } & (components["schemas"]["Plant"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "create";
        });
        /**
         * PlantReplace
         * @description Replaces the content of an existing plant, like `PUT /plants/{id}`.
         */
        PlantReplace: {
            /** @enum {string} */
            op: "replace";
            id: components["schemas"]["PlantId"];
            ifMatch?: components["schemas"]["ExpectedVersion"];
            ifContent?: components["schemas"]["ExpectedContent"];
        } & (components["schemas"]["Plant"] & {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "replace";
        });
        /**
         * PlantUpdate
         * @description Changes properties of an existing plant, like `PATCH /plants/{id}`. Omitted ones stay unchanged.
         */
        PlantUpdate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "update";
            id: components["schemas"]["PlantId"];
            /** @description The new name. */
            name?: string;
            /** @description The new tag, or null to remove the tag. */
            tag?: string | null;
            ifMatch?: components["schemas"]["ExpectedVersion"];
            ifContent?: components["schemas"]["ExpectedContent"];
        };
        /**
         * PlantRemove
         * @description Deletes a plant, like `DELETE /plants/{id}`. Without `ifMatch` and `ifContent`, it has no effect if the plant does
         *     not exist.
         */
        PlantRemove: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            op: "remove";
            id: components["schemas"]["PlantId"];
            ifMatch?: components["schemas"]["ExpectedVersion"];
            ifContent?: components["schemas"]["ExpectedContent"];
        };
        /**
         * an entity tag in double quotes, without the W/ that proxies add
         * @description The `ETag` that the plant must still have. Otherwise, the list is refused.
         * @example "name=Abies%20alba%20Mill.&tag=Tree"
         */
        ExpectedVersion: string;
        /**
         * ExpectedContent
         * @description The content that the plant must still have, such as that of an item of a list. Otherwise, the list is refused.
         *     Without `tag`, the plant must have none. A change cannot have both `ifContent` and `ifMatch`.
         */
        ExpectedContent: components["schemas"]["Plant"];
        /**
         * ChangeCounts
         * @description The number of changes in a list, by their effect.
         */
        ChangeCounts: {
            /**
             * Format: int32
             * @description The number of plants that this request created.
             * @example 500
             */
            created: number;
            /**
             * Format: int32
             * @description The number of plants whose content this request changed.
             * @example 400
             */
            changed: number;
            /**
             * Format: int32
             * @description The number of plants that this request removed.
             * @example 98
             */
            removed: number;
            /**
             * Format: int32
             * @description The number of changes that had no effect, because the plant already had the requested content or was
             *     already removed.
             * @example 2
             */
            unchanged: number;
        };
        /**
         * AccessToken
         * @description What an access token permits, and for how long.
         */
        AccessToken: {
            /**
             * @description The name of the token, or of the person or program that an OpenID Connect issuer issued it to.
             * @example dashboard
             */
            name: string;
            /**
             * @description What the token permits.
             * @example [
             *       "read",
             *       "write"
             *     ]
             */
            scopes: ("read" | "write")[];
            /**
             * Format: date-time
             * @description When the token becomes invalid. Absent if it never does, or not before the year 10000.
             * @example 2027-02-19T15:00:00.000Z
             */
            expiresAt?: string;
            /**
             * @description Why the service accepts no changes at present, whatever the token permits. Absent if it accepts them.
             * @example changes are frozen while the plants move to another database
             */
            readOnlyReason?: string;
        };
        /**
         * Change
         * @description A committed change to one plant.
         */
        Change: components["schemas"]["ChangeWithPlant"] | components["schemas"]["Removal"];
        /**
         * ChangeWithPlant
         * @description A plant was created or changed.
         */
        ChangeWithPlant: {
            cursor: components["schemas"]["Cursor"];
            at: components["schemas"]["ChangeTime"];
            /**
             * @description What happened to the plant.
             * @enum {string}
             */
            type: "created" | "changed";
            id: components["schemas"]["PlantId"];
            /** @description The plant after the change. */
            plant: components["schemas"]["Plant"];
            endsTransaction?: components["schemas"]["EndsTransaction"];
        };
        /**
         * Removal
         * @description A plant was removed.
         */
        Removal: {
            cursor: components["schemas"]["Cursor"];
            at: components["schemas"]["ChangeTime"];
            /**
             * @description What happened to the plant.
             * @enum {string}
             */
            type: "removed";
            id: components["schemas"]["PlantId"];
            endsTransaction?: components["schemas"]["EndsTransaction"];
        };
        /**
         * Cursor
         * @description Identifies the change. Pass it as `after` to get the changes that follow it.
         * @example AAECAwQFBgcAAAAAAAAAKgGaQ1BXMGTkN7U
         */
        Cursor: string;
        /**
         * EndsTransaction
         * @description True if a transaction ends with this change, so that no list of changes continues after it. If it is absent, the
         *     transaction can continue with the next change.
         * @example true
         */
        EndsTransaction: boolean;
        /**
         * ChangeTime
         * Format: date-time
         * @description When the change was made, according to the clock of the service or the database server. It can be earlier
         *     than that of the previous change if both were made at the same time or the clock was set.
         * @example 2026-11-21T15:00:00.000Z
         */
        ChangeTime: string;
        /**
         * PlantId
         * Format: int64
         * @description The id of the plant.
         * @example 4
         */
        PlantId: bigint;
        /**
         * UnchangedId
         * Format: int64
         * @description The id of the plant, which must equal the one in the path.
         * @example 4
         */
        UnchangedId: bigint;
        /**
         * * or a comma-separated list of entity tags
         * @description See RFC 9110 §8.8.3.
         * @example "name=Abies%20alba%20Mill.&tag=Tree"
         */
        EntityTags: string;
        /** Error */
        Error: {
            /**
             * Format: int32
             * @description The error code: the HTTP status times 100, plus a number that distinguishes errors with the same status.
             * @example 40002
             */
            error: number;
            /**
             * @description A human-readable explanation.
             * @example body/id must be an int64
             */
            message: string;
        };
    };
    responses: {
        /** @description You have received the event. */
        WebhookReceived: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description You want no more events. The service removes the webhook. */
        WebhookGone: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The service sends the event again later. */
        WebhookFailed: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request is malformed or invalid. Nothing was stored. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is malformed or has an invalid parameter. */
        BadParameters: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is malformed or invalid. Nothing was changed. */
        BadChange: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request has no valid access token. */
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
        /** @description The token is valid but lacks a required scope. */
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
        /**
         * @description The token is valid but lacks a required scope, or the service is a read-only mirror of another one. Nothing
         *     was changed.
         */
        ForbiddenChange: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                /**
                 * @description The bearer challenge (RFC 6750 §3). Absent if the service is a mirror, because no token can change its
                 *     plants.
                 */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request took too long to arrive. The service closes the connection. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description No plant has this id. */
        PlantNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The plant has changed and no longer matches `If-Match`. This request changed nothing. */
        PlantChanged: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body exceeds the size limit. Nothing was changed. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The body exceeds the size limit, or the list affects too much stored text, counted in the plants before and
         *     after each change. Nothing was changed. Send fewer changes at a time. A single change never affects too much.
         */
        ListTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The operation does not accept the body's media type, charset or content coding. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Accept-Encoding": components["headers"]["AcceptEncoding"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The operation does not accept the body's media type, charset or content coding. */
        UnsupportedPatch: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Accept-Encoding": components["headers"]["AcceptEncoding"];
                "Accept-Patch": components["headers"]["AcceptPatch"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The request target is an https URL, but the connection is not encrypted (RFC 9110 §7.4). Nothing was read or
         *     changed.
         */
        MisdirectedRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The client's address sent too many requests without a valid token, or the token exceeded its rate
         *     limit. Nothing was read or changed.
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
        /**
         * @description The request line and headers are too long, or there are too many header fields. The service closes the
         *     connection.
         */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The service failed because of a bug. A change may or may not have taken effect. Repeat the request
         *     to find out.
         */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request uses a transfer coding other than `chunked` (RFC 9112 §6.1). Nothing was read or changed. */
        NotImplemented: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The service or its store is temporarily unavailable. Retry later. Acknowledged changes are safe. This one may
         *     have been made, or may still be.
         */
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
        /** @description The service or its store is temporarily unavailable, or the index of `sort` is being built. Retry later. */
        ListUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description The major version of HTTP is not 1 (RFC 9110 §15.6.6), as in HTTP/2.0 or HTTP/0.9. Nothing was read
         *     or changed.
         */
        VersionNotSupported: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /**
         * @description The plant's id in decimal, without `+`, leading zeros, a fraction or an exponent.
         * @example 4
         */
        PathId: components["schemas"]["PlantId"];
        /**
         * @description One or more `ETag` values. If none of them is current, the request fails with 412 and changes
         *     nothing (RFC 9110 §13.1.1).
         */
        IfMatch: components["schemas"]["EntityTags"];
        /** @description The id of the event. */
        WebhookId: string;
        /** @description The time of this attempt, in seconds since 1970. */
        WebhookTimestamp: string;
        /** @description One or two signatures, separated by a space. One must match. */
        WebhookSignature: string;
    };
    requestBodies: never;
    headers: {
        /** @description Identifies the current content of the plant (a strong entity tag, RFC 9110 §8.8.3). */
        ETag: string;
        /**
         * @description The content codings that the operation accepts (RFC 9110 §12.5.3). Present only if the body
         *     has another one.
         */
        AcceptEncoding: "identity";
        /** @description The media types that the operation accepts (RFC 5789 §2.2). */
        AcceptPatch: string;
        /**
         * @description The bearer challenge (RFC 6750 §3). `error` is absent if the request had no token. `resource_metadata` (RFC
         *     9728 §5.1) is present if the service accepts tokens of an OpenID Connect issuer.
         */
        Challenge: string;
        /**
         * @description Identifies the request in the service's log. Include it when you report a problem. The service
         *     generates it and ignores any value sent by the client.
         */
        RequestId: string;
        /**
         * @description The limit that was exceeded (draft-ietf-httpapi-ratelimit-headers-11): its name, quota `q`, and
         *     window `w` in seconds.
         */
        RateLimitPolicy: string;
        /**
         * @description The state of the exceeded limit (draft-ietf-httpapi-ratelimit-headers-11): its remaining quota `r`,
         *     and the number of seconds `t` until more is available.
         */
        RateLimit: string;
        /** @description Seconds to wait before retrying (RFC 9110 §10.2.3). */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPlants: {
        parameters: {
            query?: {
                /** @description The maximum number of plants to return. */
                limit?: number;
                /**
                 * @description Return only plants that follow this id in the order of ids. To read all pages, or with `sort` by another
                 *     property, follow `Link` instead.
                 */
                after?: components["schemas"]["PlantId"];
                /**
                 * @description The order of the plants: by id, as by default, or by a property that the operator has made sortable. `-` reverses
                 *     it. Plants without a value are last in both cases, and ids decide between equal values.
                 */
                sort?: "id" | "-id";
                /** @description Return only plants with exactly this tag, such as `Tree`. */
                tag?: string;
                /** @description With `true`, return only plants without a tag. An empty tag counts as a tag. Cannot be combined with `tag`. */
                untagged?: true;
                /**
                 * @description Return only plants whose name contains each word of this text, in any order. A part of a word is enough.
                 *     Letters match regardless of case and diacritics, `×` matches `x` with or without a space, every kind of
                 *     space, apostrophe and hyphen matches its plain form, and characters without width are ignored. There are no
                 *     wildcards. Without any word, the response is 400.
                 */
                q?: string;
                /**
                 * @description Return only the plants with these ids. Repeat the parameter for each id: `id=4&id=49`. The response omits
                 *     ids that no plant has. `limit` does not apply, and only `after` can be combined with it.
                 */
                id?: components["schemas"]["PlantId"][];
                /** @description With `true`, also count the plants that match, on all pages: see the header `Plant-Count`. */
                count?: true;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of plants, possibly empty. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The next page (RFC 8288). Absent on the last page. */
                    Link?: string;
                    /**
                     * @description The number of plants that match, regardless of `after` and `limit`. Present if the request has `count`.
                     *     `;at-least` follows if there were too many plants to examine all of them, so that more can match. An
                     *     item of structured fields (RFC 9651).
                     */
                    "Plant-Count"?: string;
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
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ListUnavailable"];
            505: components["responses"]["VersionNotSupported"];
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
            /** @description The plant is stored, either by this request or by an earlier one with the same content. */
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
            403: components["responses"]["ForbiddenChange"];
            408: components["responses"]["RequestTimeout"];
            /** @description A different plant already has this id. Nothing was changed. */
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
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    changePlants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The changes. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlantChange"][];
            };
        };
        responses: {
            /** @description All changes are on disk, or had no effect. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeCounts"];
                };
            };
            /** @description The request is malformed or invalid. Nothing was changed. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            /** @description The plant of the first change that failed does not exist. Nothing was changed. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            /** @description A different plant already has the id of the first change that failed. Nothing was changed. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The plant of the first change that failed does not match `ifMatch` or `ifContent`. Nothing was changed. */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["ListTooLarge"];
            415: components["responses"]["UnsupportedPatch"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    createPlants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The plants and their ids. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"][];
            };
        };
        responses: {
            /** @description All plants are stored, either by this request or by earlier ones with the same content. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchResult"];
                };
            };
            /** @description The request is malformed or invalid. Nothing was stored. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            408: components["responses"]["RequestTimeout"];
            /**
             * @description A different plant already has one of the ids. The message names the first conflict. Nothing was
             *     changed.
             */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["ListTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    getPlant: {
        parameters: {
            query?: never;
            header?: {
                /** @description One or more `ETag` values. If one of them is current, the response is 304 (RFC 9110 §13.1.2). */
                "If-None-Match"?: string;
                /**
                 * @description One or more `ETag` values. If none of them is current, the request fails with 412 and changes
                 *     nothing (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The plant's id in decimal, without `+`, leading zeros, a fraction or an exponent.
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
            /** @description The plant matches `If-None-Match`. */
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
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    replacePlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description One or more `ETag` values. If none of them is current, the request fails with 412 and changes
                 *     nothing (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The plant's id in decimal, without `+`, leading zeros, a fraction or an exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        /** @description The new name and, optionally, the new tag. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlantReplacement"];
            };
        };
        responses: {
            /** @description The updated plant. The change is on disk. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /**
                     * @description Identifies the current content of the plant (a strong entity tag, RFC 9110 §8.8.3). Absent if the plant
                     *     is not exactly what you sent (§9.3.4), because a property was ignored, or because the plant has a field
                     *     that the service hides: fetch the plant instead.
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredPlant"];
                };
            };
            400: components["responses"]["BadChange"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    deletePlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description One or more `ETag` values. If none of them is current, the request fails with 412 and changes
                 *     nothing (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The plant's id in decimal, without `+`, leading zeros, a fraction or an exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plant was deleted, and the change is on disk. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadParameters"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    updatePlant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description One or more `ETag` values. If none of them is current, the request fails with 412 and changes
                 *     nothing (RFC 9110 §13.1.1).
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The plant's id in decimal, without `+`, leading zeros, a fraction or an exponent.
                 * @example 4
                 */
                id: components["parameters"]["PathId"];
            };
            cookie?: never;
        };
        /** @description The properties to change. */
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["PlantPatch"];
                "application/json": components["schemas"]["PlantPatch"];
            };
        };
        responses: {
            /** @description The updated plant. The change is on disk. */
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
            403: components["responses"]["ForbiddenChange"];
            404: components["responses"]["PlantNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PlantChanged"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedPatch"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description The maximum number of changes to return. A page can contain fewer even if more follow. A stream ignores it. */
                limit?: number;
                /**
                 * @description Return only changes after this cursor: one from a change, a `Link` or an export, or `latest` for
                 *     changes from now on. By default, changes are returned from the oldest one that is retained.
                 */
                after?: string;
                /**
                 * @description If there are no changes yet, how many seconds to wait for one before responding with an empty page.
                 *     HEAD never waits, and a stream ignores it.
                 */
                wait?: number;
            };
            header?: {
                /**
                 * @description The cursor of the last event of an earlier stream. Takes precedence over `after`, unless it is empty. A page
                 *     ignores it.
                 */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes, possibly empty, or a stream of changes. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The changes after this page (RFC 8288). On every page, including an empty one, but not on a stream. */
                    Link?: string;
                    /** @description Makes nginx forward each event at once. Only on a stream. */
                    "X-Accel-Buffering"?: "no";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Change"][];
                    "text/event-stream": string;
                };
            };
            /** @description The request is malformed, or a parameter or cursor is invalid. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description The changes after the cursor are not available. */
            410: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    listTags: {
        parameters: {
            query?: {
                /** @description The maximum number of tags to return. */
                limit?: number;
                /** @description The position after which the page begins, from a `Link`. A tag is not a position. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tags, possibly empty. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description The next page (RFC 8288). Absent on the last page. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            400: components["responses"]["BadParameters"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token of this request. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessToken"];
                };
            };
            400: components["responses"]["BadParameters"];
            401: components["responses"]["Unauthorized"];
            408: components["responses"]["RequestTimeout"];
            421: components["responses"]["MisdirectedRequest"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["Unavailable"];
            505: components["responses"]["VersionNotSupported"];
        };
    };
}
/** The parameters that have a default, by operation. */
export interface DefaultedParameters {
    listPlants: "limit";
    createPlant: never;
    changePlants: never;
    createPlants: never;
    getPlant: never;
    replacePlant: never;
    updatePlant: never;
    deletePlant: never;
    listChanges: "limit" | "wait";
    listTags: "limit";
    getToken: never;
}
