// Generated from openapi.yaml by `npm run generate`; edit that instead.

/** The limits of the parameters and the body of each operation. */
export const limits = {
  listPlants: {
    limit: {
      minimum: 1,
      maximum: 1000
    },
    tag: {
      maxLength: 1000
    },
    q: {
      minLength: 1,
      maxLength: 100
    },
    id: {
      minItems: 1,
      maxItems: 200
    }
  },
  createPlant: {},
  changePlants: {
    body: {
      minItems: 1,
      maxItems: 1000
    }
  },
  createPlants: {
    body: {
      minItems: 1,
      maxItems: 1000
    }
  },
  getPlant: {},
  replacePlant: {},
  updatePlant: {},
  deletePlant: {},
  listChanges: {
    limit: {
      minimum: 1,
      maximum: 1000
    },
    after: {
      maxLength: 100
    },
    wait: {
      minimum: 0,
      maximum: 60
    },
    "Last-Event-ID": {
      maxLength: 100
    }
  },
  listTags: {
    limit: {
      minimum: 1,
      maximum: 1000
    },
    after: {
      maxLength: 5344
    }
  },
  getToken: {}
} as const
