import { z } from 'zod';
import type { ImproveResult } from '../../client/index.ts';
import { datasetOutput, givenText, nameList, optionalText } from '../arguments.ts';
import { DEFAULT_DATASET, findDataset } from '../datasets.ts';
import {
  addItems,
  awaitBuild,
  type BuildState,
  buildText,
  DEFAULT_WAIT_SECONDS,
  type NewItem,
  startBuild,
} from '../ingestion.ts';
import { defineTool, type Tool, type ToolCall, ToolError } from '../tool.ts';

const MAX_FILE_BYTES = 10 * 1024 * 1024;

const background = z
  .boolean()
  .default(false)
  .describe('Return at once and build in the background; cognify_status tells when it is done.');
const waitSeconds = z
  .number()
  .min(0)
  .max(3600)
  .default(DEFAULT_WAIT_SECONDS)
  .describe('How long to wait for the build. It goes on in the background after that.');

const builtOutput = z.object({
  status: z.enum(['completed', 'running', 'failed']),
  dataset: datasetOutput,
  items: z.array(z.string()).describe('Ids of the stored items'),
  refused: z.array(z.string()).describe('What was not stored, with the reason'),
  error: z.string().nullable(),
});

export const writeTools: readonly Tool[] = [
  defineTool({
    name: 'remember',
    title: 'Remember',
    effect: 'write',
    description: `Store something for later: facts, decisions, preferences, notes, documents. Use it whenever the user says "remember" or something will be needed in another conversation.

Give the text in \`data\` (the address of one web page stores that page), or a file as \`filename\` and \`content_base64\`. Without \`session_id\` it becomes lasting memory: the text is stored and built into the knowledge graph, and ask and recall find it in every conversation. With \`session_id\` it is kept as a note of that session only, at once.

Write self-contained sentences with names and dates instead of "he", "it", "today".`,
    input: z.object({
      data: optionalText('The text to store, or the address of one web page.'),
      filename: optionalText('Name of a file, with its extension. Needs content_base64.'),
      content_base64: optionalText('Content of the file in base64, at most 10 MB.'),
      dataset_name: optionalText(
        `Dataset to store in, by name or id; a new name makes a dataset. Default: ${DEFAULT_DATASET}.`,
      ),
      session_id: optionalText('Keep it as a note of this session instead of in the graph.'),
      custom_prompt: optionalText('Prompt for the extraction of entities, when a language model is configured.'),
      background,
      wait_seconds: waitSeconds,
    }),
    output: builtOutput.extend({ session_id: z.string().nullable() }),
    async run(input, call) {
      const item = itemOf(input);
      const dataset = givenText(input.dataset_name) ?? DEFAULT_DATASET;
      const session = givenText(input.session_id);
      if (session !== null) return noteOfSession(call, { item, dataset, session });
      const wait = input.background ? 0 : input.wait_seconds;
      const { text, data } = await addAndBuild(call, {
        dataset,
        items: [item],
        wait,
        customPrompt: givenText(input.custom_prompt),
      });
      return { text, data: { ...data, session_id: null } };
    },
  }),
  defineTool({
    name: 'add',
    title: 'Add without building',
    effect: 'write',
    description:
      'Store a text in a dataset without building the graph yet. For many texts in a row: add each, then call cognify once. Nothing is found before that. For a single text use remember.',
    input: z.object({
      data: z.string().min(1).describe('The text to store, or the address of one web page.'),
      dataset_name: optionalText(
        `Dataset to store in, by name or id; a new name makes a dataset. Default: ${DEFAULT_DATASET}.`,
      ),
      node_set: nameList('Tags for the item, separated by commas.'),
    }),
    output: z.object({ dataset: datasetOutput, items: z.array(z.string()), refused: z.array(z.string()) }),
    async run({ data, dataset_name, node_set }, { api }) {
      const added = await addItems(api, givenText(dataset_name) ?? DEFAULT_DATASET, {
        items: [{ name: null, content: data }],
        nodeSet: node_set,
      });
      const { dataset, items, refused } = added;
      const text = `Stored in dataset "${dataset.name}" (item ${items.join(', ')}). Call cognify to make it findable.`;
      return { text, data: { dataset, items: [...items], refused: [...refused] } };
    },
  }),
  defineTool({
    name: 'cognify',
    title: 'Build the knowledge graph',
    effect: 'write',
    description: `Build texts into the knowledge graph: entities, relations, passages that can be searched. With \`data\` the text is stored first; a JSON list of texts stores several. Without \`data\` it builds what was added to the dataset before.

Reports progress while it waits. A build that takes longer goes on in the background, also when this call is cancelled: cognify_status tells when it is done.`,
    input: z.object({
      data: z
        .union([z.string(), z.array(z.string())])
        .nullish()
        .describe('Text to store and build, or a JSON list of texts.'),
      dataset_name: optionalText(`Dataset, by name or id. Default: ${DEFAULT_DATASET}.`),
      custom_prompt: optionalText('Prompt for the extraction of entities, when a language model is configured.'),
      graph_model: z
        .record(z.string(), z.unknown())
        .nullish()
        .describe('JSON schema of the entities to extract, in place of the general one; needs a language model.'),
      graph_model_file: optionalText('Not available: a file of Python classes cannot be read. Give graph_model.'),
      graph_model_name: optionalText('Not available, as graph_model_file.'),
      background,
      wait_seconds: waitSeconds,
    }),
    output: builtOutput,
    async run(input, call) {
      if (givenText(input.graph_model_file) !== null || givenText(input.graph_model_name) !== null) {
        throw new ToolError(
          'graph_model_file names Python classes, which this server does not run. Give the model as a JSON schema in graph_model.',
        );
      }
      const build = { customPrompt: givenText(input.custom_prompt), graphModel: input.graph_model ?? null };
      const wait = input.background ? 0 : input.wait_seconds;
      const texts = textsOf(input.data);
      const name = givenText(input.dataset_name) ?? DEFAULT_DATASET;
      if (texts.length > 0) {
        const items = texts.map((content) => ({ name: null, content }));
        return addAndBuild(call, { dataset: name, items, wait, ...build });
      }
      const dataset = await findDataset(call.api, name);
      await startBuild(call.api, dataset.id, build);
      const state = await awaitBuild(call, dataset, wait);
      return { text: buildText(state, dataset.name), data: builtData(state, { dataset, items: [], refused: [] }) };
    },
  }),
  defineTool({
    name: 'save_interaction',
    title: 'Save an interaction',
    effect: 'write',
    description:
      'Store an exchange between user and agent (the question and what you answered) in lasting memory, tagged as an interaction. Returns at once; the graph is built in the background.',
    input: z.object({ data: z.string().min(1).describe('The question and the answer, as text.') }),
    output: builtOutput,
    run: ({ data }, call) =>
      addAndBuild(call, {
        dataset: DEFAULT_DATASET,
        items: [{ name: null, content: data }],
        nodeSet: ['user_agent_interaction'],
        wait: 0,
      }),
  }),
  defineTool({
    name: 'improve',
    title: 'Improve memory',
    effect: 'write',
    description:
      'Let memory learn: bring what was said in sessions into the lasting graph of a dataset, weigh what users rated, and enrich the graph. Call it at the end of a session with its id.',
    input: z.object({
      dataset_name: optionalText(`Dataset to improve, by name or id. Default: ${DEFAULT_DATASET}.`),
      session_ids: nameList('Sessions to learn from, separated by commas.'),
    }),
    output: z.object({
      status: z.string(),
      dataset: datasetOutput,
      stages: z.array(z.object({ stage: z.string(), status: z.string(), reason: z.string().nullable() })),
    }),
    async run({ dataset_name, session_ids }, { api, progress }) {
      const { id, name } = await findDataset(api, givenText(dataset_name) ?? DEFAULT_DATASET);
      await progress({ progress: 0, message: `Improving ${name}` });
      const answer = await api.post<ImproveResult>('/api/v1/improve', {
        dataset_id: id,
        ...(session_ids.length === 0 ? {} : { session_ids }),
      });
      const stages = (answer.stages ?? []).map(({ stage, status, reason, error }) => ({
        stage,
        status,
        reason: error ?? reason,
      }));
      const lines = stages.map(
        ({ stage, status, reason }) => `- ${stage}: ${status}${reason === null ? '' : ` (${reason})`}`,
      );
      const status = answer.error == null ? (answer.status ?? 'completed') : 'failed';
      return {
        text: [
          `Improve of dataset "${name}": ${status}${answer.error == null ? '' : `: ${answer.error}`}`,
          ...lines,
        ].join('\n'),
        data: { status, dataset: { id, name }, stages },
      };
    },
  }),
];

interface Addition {
  readonly dataset: string;
  readonly items: readonly NewItem[];
  readonly wait: number;
  readonly nodeSet?: readonly string[];
  readonly customPrompt?: string | null;
  readonly graphModel?: object | null;
}

async function addAndBuild(call: ToolCall, { dataset, items, wait, nodeSet = [], ...build }: Addition) {
  await call.progress({ progress: 0, total: 1, message: 'Storing' });
  const added = await addItems(call.api, dataset, { items, nodeSet });
  await startBuild(call.api, added.dataset.id, build);
  const state: BuildState =
    wait === 0 ? { status: 'running', error: null } : await awaitBuild(call, added.dataset, wait);
  const stored = `Stored ${added.items.length === 1 ? 'it' : `${added.items.length} texts`} in dataset "${added.dataset.name}".`;
  const refused = added.refused.map((each) => `Not stored: ${each}`);
  return { text: [stored, ...refused, buildText(state, added.dataset.name)].join('\n'), data: builtData(state, added) };
}

function builtData(
  { status, error }: BuildState,
  added: {
    readonly dataset: { readonly id: string; readonly name: string };
    readonly items: readonly string[];
    readonly refused: readonly string[];
  },
) {
  const { id, name } = added.dataset;
  return { status, dataset: { id, name }, items: [...added.items], refused: [...added.refused], error };
}

interface RememberInput {
  readonly data?: string | null | undefined;
  readonly filename?: string | null | undefined;
  readonly content_base64?: string | null | undefined;
}

function itemOf({ data, filename, content_base64 }: RememberInput): NewItem {
  const text = givenText(data);
  const encoded = givenText(content_base64);
  if (text !== null && encoded !== null) throw new ToolError('Give either data or content_base64, not both.');
  if (text !== null) return { name: givenText(filename), content: text };
  if (encoded === null)
    throw new ToolError('There is nothing to store: give the text in data, or a file as filename and content_base64.');
  const name = givenText(filename);
  if (name === null) throw new ToolError('A file needs its name with the extension in filename.');
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/u.test(encoded)) throw new ToolError('content_base64 is not valid base64.');
  const content = Buffer.from(encoded, 'base64');
  if (content.length > MAX_FILE_BYTES) {
    throw new ToolError(
      `The file has ${content.length} bytes; the limit is ${MAX_FILE_BYTES}. Upload it over the HTTP API or the console.`,
    );
  }
  return { name, content };
}

async function noteOfSession(
  { api }: ToolCall,
  { item, dataset, session }: { readonly item: NewItem; readonly dataset: string; readonly session: string },
) {
  if (typeof item.content !== 'string')
    throw new ToolError('A file cannot be a note of a session: leave out session_id.');
  const answer = await api.post<{ dataset_id: string; dataset_name: string }>('/api/v1/remember/entry', {
    entry: { type: 'qa', question: '', answer: item.content, context: '' },
    dataset_name: dataset,
    session_id: session,
  });
  const { dataset_id: id, dataset_name: name } = answer;
  return {
    text: `Kept as a note of session "${session}". recall with this session_id finds it; improve brings it into lasting memory.`,
    data: {
      status: 'completed' as const,
      dataset: { id, name },
      items: [],
      refused: [],
      error: null,
      session_id: session,
    },
  };
}

/** cognee-mcp takes several texts as a JSON list in a string. */
function textsOf(data: string | readonly string[] | null | undefined): readonly string[] {
  if (data === null || data === undefined) return [];
  return (typeof data === 'string' ? (jsonTexts(data) ?? [data]) : data).filter((text) => text.trim() !== '');
}

function jsonTexts(data: string): readonly string[] | null {
  if (!data.trimStart().startsWith('[')) return null;
  try {
    const parsed: unknown = JSON.parse(data);
    return Array.isArray(parsed) && parsed.every((each) => typeof each === 'string') ? parsed : null;
  } catch {
    return null;
  }
}
