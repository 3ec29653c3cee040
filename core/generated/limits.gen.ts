// Generated from openapi.yaml by `npm run generate`; edit that instead.

// Each on its own, so that a bundle contains only those that it uses.
export const listPlantsLimits = {
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
} as const
export const createPlantLimits = {} as const
export const changePlantsLimits = {
  body: {
    minItems: 1,
    maxItems: 1000
  }
} as const
export const createPlantsLimits = {
  body: {
    minItems: 1,
    maxItems: 1000
  }
} as const
export const getPlantLimits = {} as const
export const replacePlantLimits = {} as const
export const updatePlantLimits = {} as const
export const deletePlantLimits = {} as const
export const listChangesLimits = {
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
} as const
export const listTagsLimits = {
  limit: {
    minimum: 1,
    maximum: 1000
  },
  after: {
    maxLength: 5344
  }
} as const
export const getTokenLimits = {} as const

/** The limits of the parameters and the body of each operation. */
export const limits = {
  listPlants: listPlantsLimits,
  createPlant: createPlantLimits,
  changePlants: changePlantsLimits,
  createPlants: createPlantsLimits,
  getPlant: getPlantLimits,
  replacePlant: replacePlantLimits,
  updatePlant: updatePlantLimits,
  deletePlant: deletePlantLimits,
  listChanges: listChangesLimits,
  listTags: listTagsLimits,
  getToken: getTokenLimits,
} as const
