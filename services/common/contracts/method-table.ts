// Generated from proto/ by npm run generate.

/** Method by `<service>.<Method>`. */
export const METHODS = {
  'auth.Authenticate': { deadlineMs: 10000, principalRequired: false },
  'auth.GetPrincipal': { deadlineMs: 10000, principalRequired: false },
  'auth.ResolveDatasets': { deadlineMs: 10000, principalRequired: true },
  'auth.CreateDataset': { deadlineMs: 10000, principalRequired: true },
  'auth.RemoveDataset': { deadlineMs: 10000, principalRequired: true },
  'auth.GetPublicKeys': { deadlineMs: 5000, principalRequired: false },
  'ingest.DatasetItems': { deadlineMs: 10000, principalRequired: false },
  'cognify.StartRun': { deadlineMs: 10000, principalRequired: true },
  'cognify.RecordRun': { deadlineMs: 10000, principalRequired: true },
  'cognify.GetRun': { deadlineMs: 10000, principalRequired: false },
  'cognify.RunStatuses': { deadlineMs: 10000, principalRequired: false },
  'cognify.Erase': { deadlineMs: 120000, principalRequired: true },
  'search.Erase': { deadlineMs: 60000, principalRequired: true },
  'system.Describe': { deadlineMs: 2000, principalRequired: false },
  'system.Health': { deadlineMs: 2000, principalRequired: false },
} as const;

export type MethodPath = keyof typeof METHODS;
