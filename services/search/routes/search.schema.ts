import { z } from 'zod';
import { lenientBoolean, lenientInteger, optional, stringList, uuidList } from '../../common/platform/http/schema.ts';
import { OFFERED_TYPES, SEARCH_TYPES, type SearchType } from '../search-types.ts';

const DATE = /^\d{4}-\d\d-\d\d$/u;
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/u;

/** Fields that search and recall share (search-recall.md §1.1, §6.1). Unknown fields are ignored, also `verbose`. */
const common = {
  query: z.string(),
  datasets: optional(stringList()),
  datasetIds: optional(uuidList()),
  systemPrompt: optional(z.string()),
  nodeName: optional(stringList()),
  topK: lenientInteger().nullish(),
  onlyContext: optional(lenientBoolean()),
  sessionId: optional(z.string()),
  includeReferences: optional(lenientBoolean()),
  codeQuery: z.record(z.string(), z.unknown()).nullish(),
  /** Extension: uses structures of improve. */
  useTruthSubspace: optional(lenientBoolean()),
  useGlobalContext: optional(lenientBoolean()),
  /** Extension: adds to each result why it was found. */
  explain: optional(lenientBoolean()),
  /** Extension: omits superseded statements (default true). */
  currentOnly: optional(lenientBoolean()),
  /** Extension: shows what held at this time. */
  asOf: pointInTime().nullish(),
};

/** Parses an ISO date or time to an ISO time in UTC; a date means its end. */
function pointInTime() {
  return z
    .string()
    .refine((text) => ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'Input should be a valid datetime')
    .transform((text) => new Date(DATE.test(text) ? `${text}T23:59:59.999Z` : text).toISOString());
}

/** Accepts all types of the contract; documents and errors name the supported ones. */
const searchType = z
  .string()
  .check(({ value: input, issues }) => {
    if ((SEARCH_TYPES as readonly string[]).includes(input)) return;
    issues.push({ code: 'invalid_value', values: [...OFFERED_TYPES], input });
  })
  .transform((type) => type as SearchType)
  .meta({ id: 'SearchType', enum: OFFERED_TYPES });

export const searchBody = z
  .object({
    ...common,
    searchType: searchType.default('GRAPH_COMPLETION'),
    skills: stringList().nullish(),
    tools: stringList().nullish(),
    maxIter: lenientInteger().nullish(),
  })
  .meta({ id: 'SearchPayloadDTO' });
export type SearchBody = z.infer<typeof searchBody>;

export const recallBody = z
  .object({
    ...common,
    searchType: searchType.nullish(),
    scope: z.union([z.string(), stringList()]).nullish(),
    toolConnections: stringList().nullish(),
    stream: optional(lenientBoolean()),
    toolsTrigger: optional(z.string()),
    contextProfile: optional(z.string()),
    responseSchema: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'RecallPayloadDTO' });
export type RecallBody = z.infer<typeof recallBody>;

const historyItem = z.object({
  id: z.string(),
  text: z.string(),
  user: z.enum(['user', 'system']),
  createdAt: z.string(),
  datasetId: z.string().nullable(),
});
/** The same rows, named after each route. */
export const historyItems = {
  search: historyItem.meta({ id: 'SearchHistoryItem' }).array(),
  recall: historyItem.meta({ id: 'RecallHistoryItem' }).array(),
};

const datasetResult = z
  .object({
    dataset_id: z.string().nullable(),
    dataset_name: z.string().nullable(),
    dataset_tenant_id: z.string().nullable(),
    search_result: z.unknown(),
    error: z.string().optional(),
  })
  .meta({ id: 'SearchResult' });
export const searchResults = z.union([z.array(datasetResult), z.array(z.unknown())]);

export const recallItems = z.array(z.looseObject({ source: z.string() }).meta({ id: 'RecallItem' }));
