import { z } from 'zod';
import { qaRow, traceRow } from '../../common/platform/http/answer-schemas.ts';
import { lenientBoolean, lenientInteger, optional, stringList, uuidList } from '../../common/platform/http/schema.ts';
import { SEARCH_TYPES, type SearchType } from '../search-types.ts';

const DATE = /^\d{4}-\d\d-\d\d$/u;
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/u;

/** Fields that search and recall share (search-recall.md §1.1, §6.1). Unknown fields are ignored, also `verbose`. */
const common = {
  query: z.string(),
  datasets: optional(stringList()).describe('Names; without names and ids all that the caller may read'),
  datasetIds: optional(uuidList()).describe('Ids; they come before names'),
  systemPrompt: optional(z.string()).describe('Instructions to the model that answers'),
  nodeName: optional(stringList()).describe('Only what belongs to these node sets'),
  topK: lenientInteger().nullish().describe('Number of results'),
  onlyContext: optional(lenientBoolean()).describe('What an answer would be made of, without the answer'),
  sessionId: optional(z.string()).describe('The conversation that this question belongs to'),
  includeReferences: optional(lenientBoolean()).describe('Name the sources in the answer'),
  codeQuery: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('With CODE: `operation` and its options; without it the query decides'),
  useTruthSubspace: optional(lenientBoolean()).describe('Ours: use what improve learned of what is true'),
  useGlobalContext: optional(lenientBoolean()).describe('Ours: use the summaries of the whole dataset'),
  explain: optional(lenientBoolean()).describe('Ours: add to each result why it was found'),
  currentOnly: optional(lenientBoolean()).describe('Ours: leave superseded statements out (default true)'),
  asOf: pointInTime().nullish().describe('Ours: what held at this date or time'),
};

/** Parses an ISO date or time to an ISO time in UTC; a date means its end. */
function pointInTime() {
  return isoTime().transform((text) => new Date(DATE.test(text) ? `${text}T23:59:59.999Z` : text).toISOString());
}

/** Parses an ISO date or time to an ISO time in UTC; a date means its beginning. */
export function instant() {
  return isoTime().transform((text) => new Date(text).toISOString());
}

function isoTime() {
  return z
    .string()
    .refine((text) => ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'Input should be a valid datetime');
}

const searchType = z
  .string()
  .check(({ value: input, issues }) => {
    if ((SEARCH_TYPES as readonly string[]).includes(input)) return;
    issues.push({ code: 'invalid_value', values: [...SEARCH_TYPES], input });
  })
  .transform((type) => type as SearchType)
  .meta({ id: 'SearchType', enum: SEARCH_TYPES });

export const searchBody = z
  .object({
    ...common,
    searchType: searchType.default('GRAPH_COMPLETION'),
    skills: stringList().nullish(),
    tools: stringList().nullish(),
    maxIter: lenientInteger().nullish(),
  })
  .meta({
    id: 'SearchPayloadDTO',
    examples: [{ query: 'Who leads the project?', datasets: ['notes'], searchType: 'GRAPH_COMPLETION', topK: 10 }],
  });
export type SearchBody = z.infer<typeof searchBody>;

export const recallBody = z
  .object({
    ...common,
    searchType: searchType.nullish(),
    scope: z
      .union([z.string(), stringList()])
      .nullish()
      .describe('Which memories are asked; by default those that fit'),
    toolConnections: stringList().nullish(),
    stream: optional(lenientBoolean()).describe('Answer with server-sent events'),
    toolsTrigger: optional(z.string()),
    contextProfile: optional(z.string()),
    responseSchema: z.record(z.string(), z.unknown()).nullish().describe('JSON schema of the answer'),
  })
  .meta({
    id: 'RecallPayloadDTO',
    examples: [{ query: 'Who leads the project?', datasets: ['notes'], sessionId: 'chat-1' }],
  });
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

const row = z.record(z.string(), z.unknown());
const datasetResult = z
  .object({
    dataset_id: z.string().nullable(),
    dataset_name: z.string().nullable(),
    dataset_tenant_id: z.string().nullable(),
    search_result: z
      .union([z.array(z.union([z.string(), row])), z.string(), row, z.null()])
      .describe(
        'Answers are texts, passages and records are objects; a text alone is the context; CODE answers with one object. Of several datasets passages have their `rank` over all',
      ),
    error: z.string().optional(),
    explain: z.unknown().optional().describe('Why the passages of the answer were found'),
    conversation: row.optional().describe('What the session contributed'),
    global_context: z.array(row).optional(),
    triplets: z.array(row).optional(),
    reasoning: row.optional().describe('How a type that looks more than once came to its answer'),
  })
  .meta({
    id: 'SearchResult',
    examples: [
      {
        dataset_id: '5f88722c-101b-4e65-8dd9-b41b679c0235',
        dataset_name: 'notes',
        dataset_tenant_id: null,
        search_result: ['Ada leads the project.'],
      },
    ],
  });
export const searchResults = z.union([z.array(datasetResult), z.array(z.unknown())]);

const explained = { explain: row.optional() };
const recallItem = z
  .union([
    z
      .object({
        kind: z.string(),
        search_type: searchType,
        text: z.string().describe('The answer, or the text of what was found'),
        system_prompt: z.string().nullable(),
        score: z.number().nullable(),
        dataset_id: z.string().nullable(),
        dataset_name: z.string().nullable(),
        metadata: row.describe(
          'Of a passage: data_id, chunk_id, chunk_index, document_name; with `explain` why; with references `evidence` of an answer; `nearest`: quotes that come nearest to a question that memory does not answer',
        ),
        raw: row,
        structured: z.unknown().describe('The answer by `responseSchema`, else null'),
        source: z.literal('graph'),
      })
      .meta({
        id: 'RecalledFromGraph',
        examples: [
          {
            kind: 'graph_completion',
            search_type: 'GRAPH_COMPLETION',
            text: 'Ada leads the project.',
            system_prompt: null,
            score: null,
            metadata: {},
            raw: { value: 'Ada leads the project.' },
            dataset_id: '5f88722c-101b-4e65-8dd9-b41b679c0235',
            dataset_name: 'notes',
            structured: null,
            source: 'graph',
          },
        ],
      }),
    qaRow.extend({ source: z.literal('session'), ...explained }).meta({ id: 'RecalledQuestion' }),
    traceRow.extend({ source: z.literal('trace'), ...explained }).meta({ id: 'RecalledStep' }),
    z
      .object({ source: z.literal('session_context'), content: z.string(), context_profile: z.string(), ...explained })
      .meta({ id: 'RecalledGuidance' }),
    z
      .object({ source: z.literal('skills'), text: z.string(), skill: z.string(), score: z.number().nullable() })
      .meta({ id: 'OfferedSkill' }),
    z
      .object({
        source: z.literal('system'),
        status: z.string(),
        text: z.string(),
        datapoint_count: z.int(),
        threshold: z.number(),
        error_class: z.string().nullable(),
        error_message: z.string().nullable(),
      })
      .describe('Nothing is built yet, or the last run failed')
      .meta({ id: 'MemoryNotReady' }),
  ])
  .meta({ id: 'RecallItem' });
export const recallItems = z.array(recallItem);

export const answerSourcesAnswer = z.array(
  z.object({
    qa_id: z.string(),
    dataset_id: z.string(),
    dataset_name: z.string(),
    sources: z
      .array(
        z.looseObject({
          chunk_id: z.string(),
          document_id: z.string(),
          document_name: z.string(),
          source: z.string(),
          chunk_index: z.int(),
          text: z.string(),
        }),
      )
      .describe('Passages; with the fields of `explain` when the question asked for them'),
  }),
);
