import { z } from 'zod';
import { ApiError } from '../../client/errors.ts';
import type { DatasetDTO, ForgetResult, SessionDetail, SessionRow } from '../../client/index.ts';
import { removedText } from '../../common/domain/erasure-receipt.ts';
import type { EngramApi } from '../api.ts';
import { datasetOutput, givenText, nameList, optionalText } from '../arguments.ts';
import { findDataset, isUuid, itemsOf, listDatasets, type Page } from '../datasets.ts';
import { buildStates } from '../ingestion.ts';
import { defineTool, type Tool, ToolError } from '../tool.ts';

const PAGE = 50;
const limit = z.int().min(1).max(1000).default(PAGE).describe('How many to list.');
const offset = z.int().min(0).default(0).describe('How many to pass over: the next page.');
const uuid = (what: string) => z.string().refine(isUuid, 'must be an id as list_data shows it').describe(what);

const itemOutput = z.object({
  id: z.string(),
  name: z.string(),
  mime_type: z.string().nullable(),
  size: z.number().nullable(),
  created_at: z.string(),
  updated_at: z.string().nullable(),
});

const deletedOutput = z.object({ status: z.string(), text: z.string() });

/** Reading what there is. */
export const listTools: readonly Tool[] = [
  defineTool({
    name: 'list_data',
    title: 'List datasets and items',
    effect: 'read',
    description:
      'List the datasets you may read, with the number of their items; with `dataset_id` the items of that dataset, newest first. The ids are what forget, delete and get_document take.',
    input: z.object({
      dataset_id: optionalText('Dataset whose items to list, by id or name.'),
      limit,
      offset,
    }),
    output: z.object({
      datasets: z.array(datasetOutput.extend({ items: z.number().nullable(), created_at: z.string() })).optional(),
      dataset: datasetOutput.optional(),
      items: z.array(itemOutput).optional(),
      total: z.number(),
      next_offset: z.number().nullable().describe('Offset of the next page; null: this was the last'),
    }),
    run: ({ dataset_id, ...page }, { api }) => {
      const wanted = givenText(dataset_id);
      return wanted === null ? datasetPage(api, page) : itemPage(api, wanted, page);
    },
  }),
  defineTool({
    name: 'get_document',
    title: 'Read a stored document',
    effect: 'read',
    description:
      'Read the text of a stored item: for a passage that ask or recall found, give its `data_id`. Long texts come in parts; `next_offset` is where the next one begins.',
    input: z.object({
      document_id: uuid('Id of the item.'),
      dataset_id: optionalText('Dataset that it is in, by id or name. Without it all datasets are looked through.'),
      offset: z.int().min(0).default(0).describe('Character to begin at.'),
      limit: z.int().min(1).max(200_000).default(20_000).describe('How many characters to read.'),
    }),
    output: z.object({
      document_id: z.string(),
      dataset: datasetOutput,
      text: z.string(),
      characters: z.number().describe('Length of the whole text'),
      next_offset: z.number().nullable(),
    }),
    async run({ document_id: id, dataset_id, offset: start, limit: most }, { api }) {
      const wanted = givenText(dataset_id);
      const among = wanted === null ? await listDatasets(api) : [await findDataset(api, wanted)];
      const { dataset, text: whole } = await readItem(api, among, id);
      const text = whole.slice(start, start + most);
      const next = start + most < whole.length ? start + most : null;
      const rest = next === null ? '' : `\n\n(${next} of ${whole.length} characters; the rest with offset ${next})`;
      const { name } = dataset;
      const data = {
        document_id: id,
        dataset: { id: dataset.id, name },
        text,
        characters: whole.length,
        next_offset: next,
      };
      return { text: `${text}${rest}`, data };
    },
  }),
  defineTool({
    name: 'cognify_status',
    title: 'State of builds',
    effect: 'read',
    description:
      'Say how far the build of a dataset is, and what went wrong: running with progress, completed, or failed with the error. Without `dataset_name` all datasets you may read.',
    input: z.object({
      dataset_name: optionalText('Dataset, by name or id.'),
      pipelines: nameList('Pipelines to look at, separated by commas: cognify_pipeline (default), memify_pipeline.'),
    }),
    output: z.object({
      datasets: z.array(
        z.object({
          dataset: datasetOutput,
          status: z.enum(['completed', 'running', 'failed', 'not built']),
          stage: z.string().nullable(),
          progress: z.number().nullable().describe('Part that is done, 0 to 1'),
          error: z.string().nullable(),
        }),
      ),
    }),
    async run({ dataset_name, pipelines }, { api }) {
      const wanted = givenText(dataset_name);
      const among = wanted === null ? (await listDatasets(api)).slice(0, 1000) : [await findDataset(api, wanted)];
      const asked = pipelines.length === 0 ? ['cognify_pipeline'] : pipelines;
      const rows = await Promise.all(
        asked.map(async (pipeline) => {
          const states = await buildStates(api, {
            dataset: wanted === null ? [] : among.map(({ id }) => id),
            pipeline,
          });
          return among.map(({ id, name }) => {
            const { status, stage, share, error } = states.get(id) ?? NOT_BUILT;
            const label = asked.length > 1 ? `${name} (${pipeline})` : name;
            return { label, row: { dataset: { id, name }, status, stage: stage || null, progress: share, error } };
          });
        }),
      );
      const all = rows.flat();
      const lines = all.map(
        ({ label, row }) => `- ${label}: ${[row.status, row.stage, row.error].filter(Boolean).join(', ')}`,
      );
      const text = lines.length === 0 ? 'There is no dataset yet.' : lines.join('\n');
      return { text, data: { datasets: all.map(({ row }) => row) } };
    },
  }),
  defineTool({
    name: 'sessions',
    title: 'Sessions',
    effect: 'read',
    description:
      'List past conversations that memory kept, newest first; with `session_id` the questions, answers and notes of one.',
    input: z.object({
      session_id: optionalText('Session to read.'),
      limit,
      offset,
    }),
    output: z.object({
      sessions: z
        .array(
          z.object({
            session_id: z.string(),
            status: z.string(),
            started_at: z.string(),
            last_activity_at: z.string(),
          }),
        )
        .optional(),
      total: z.number().optional(),
      next_offset: z.number().nullable().optional(),
      session: z
        .object({
          session_id: z.string(),
          label: z.string().nullable(),
          entries: z.array(z.object({ time: z.string().nullable(), question: z.string(), answer: z.string() })),
          steps: z.number().describe('Calls of tools that agents recorded'),
        })
        .optional(),
    }),
    run: ({ session_id, ...page }, { api }) => {
      const wanted = givenText(session_id);
      return wanted === null ? sessionPage(api, page) : readSession(api, wanted);
    },
  }),
];

/** Deleting, for good. */
export const deleteTools: readonly Tool[] = [
  defineTool({
    name: 'forget',
    title: 'Forget',
    effect: 'delete',
    description:
      'Delete from memory for good: one item (`data_id` with its dataset), a whole dataset, or everything you own. Only when the user asks for it; confirm with the user what will be gone, and look up ids with list_data.',
    input: z.object({
      dataset: optionalText('Dataset to delete, or that the item is in; by name or id.'),
      dataset_id: optionalText('The same by id.'),
      data_id: optionalText('Item to delete, alone.'),
      everything: z.boolean().default(false).describe('Delete all datasets that you may delete, and your sessions.'),
      memory_only: z
        .boolean()
        .default(false)
        .describe('Keep the stored texts and delete only the graph that was built from them.'),
    }),
    output: deletedOutput,
    async run({ dataset, dataset_id, data_id, everything, memory_only }, { api }) {
      const name = givenText(dataset_id) ?? givenText(dataset);
      const item = givenText(data_id);
      if (everything) {
        if (name !== null || item !== null || memory_only) {
          throw new ToolError('everything=true deletes all there is: give no dataset or item beside it.');
        }
        return forgetEverything(api);
      }
      if (name === null) {
        throw new ToolError('Say what to forget: a dataset, an item as data_id with its dataset, or everything=true.');
      }
      const target = await findDataset(api, name);
      const answer = await api.post<ForgetResult>('/api/v1/forget', {
        dataset_id: target.id,
        ...(item === null ? {} : { data_id: item }),
        ...(memory_only ? { memory_only: true } : {}),
      });
      const what = item === null ? `Dataset "${target.name}"` : `Item ${item} of dataset "${target.name}"`;
      const outcome = memory_only ? `${what}: the graph is deleted, the texts are kept.` : `${what} is forgotten.`;
      return deleted(answer.status, `${outcome} ${removedText(answer)}.`);
    },
  }),
  defineTool({
    name: 'delete',
    title: 'Delete an item',
    effect: 'delete',
    description: 'Delete one item of a dataset for good, with all that was built from it. list_data shows the ids.',
    input: z.object({
      data_id: uuid('Item to delete.'),
      dataset_id: uuid('Dataset that it is in.'),
      mode: z.enum(['soft', 'hard']).default('soft').describe('hard also deletes entities that nothing else mentions.'),
    }),
    output: deletedOutput,
    async run({ data_id, dataset_id, mode }, { api }) {
      await api.delete('/api/v1/delete', { data_id, dataset_id, mode });
      return deleted('success', `Item ${data_id} is deleted.`);
    },
  }),
  defineTool({
    name: 'prune',
    title: 'Delete everything',
    effect: 'delete',
    description:
      'Delete everything in your memory for good: all datasets that you may delete, and your sessions. Never call it unless the user asked for exactly this and confirmed it.',
    input: z.object({}),
    output: deletedOutput,
    run: (_input, { api }) => forgetEverything(api),
  }),
];

async function forgetEverything(api: EngramApi) {
  const answer = await api.post<ForgetResult>('/api/v1/forget', { everything: true });
  const what = `${answer.datasets_removed ?? 0} datasets and your sessions`;
  return deleted(answer.status, `Everything is forgotten: ${what}. ${removedText(answer)}.`);
}

function deleted(status: string | undefined, text: string) {
  return { text, data: { status: status ?? 'success', text } };
}

async function datasetPage(api: EngramApi, { limit: most, offset: start }: Page) {
  const all = await listDatasets(api);
  const datasets = await Promise.all(
    all.slice(start, start + most).map(async ({ id, name, createdAt }) => {
      const { count } = await api.get<{ count: number }>(`/api/v1/datasets/${id}/data/count`);
      return { id, name, items: count, created_at: createdAt };
    }),
  );
  const lines = datasets.map(({ id, name, items }) => `- ${name} (${id}): ${items} item${items === 1 ? '' : 's'}`);
  const next = start + most < all.length ? start + most : null;
  const text = lines.length === 0 ? 'There is no dataset yet.' : [...lines, ...moreLine(next)].join('\n');
  return { text, data: { datasets, total: all.length, next_offset: next } };
}

async function itemPage(api: EngramApi, wanted: string, page: Page) {
  const { id, name } = await findDataset(api, wanted);
  const [stored, { count }] = await Promise.all([
    itemsOf(api, id, page),
    api.get<{ count: number }>(`/api/v1/datasets/${id}/data/count`),
  ]);
  const items = stored.map((item) => ({
    id: item.id,
    name: item.displayName ?? item.name,
    mime_type: item.mimeType,
    size: item.dataSize,
    created_at: item.createdAt,
    updated_at: item.updatedAt,
  }));
  const next = page.offset + items.length < count && items.length > 0 ? page.offset + items.length : null;
  const lines = items.map((item) => `- ${item.name} (${item.id})`);
  const head = `Dataset "${name}" (${id}): ${count} item${count === 1 ? '' : 's'}`;
  const data = { dataset: { id, name }, items, total: count, next_offset: next };
  return { text: [head, ...lines, ...moreLine(next)].join('\n'), data };
}

function moreLine(next: number | null): readonly string[] {
  return next === null ? [] : [`More with offset ${next}.`];
}

/** The text of an item and the dataset that has it. Throws `ToolError` when none has. */
async function readItem(api: EngramApi, among: readonly DatasetDTO[], id: string) {
  for (const dataset of among) {
    try {
      return { dataset, text: await api.text(`/api/v1/datasets/${dataset.id}/data/${id}/raw`) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  const where = among.length === 1 ? `dataset "${among[0]?.name}"` : 'the datasets you may read';
  throw new ToolError(`There is no item ${id} in ${where}. list_data shows the items of a dataset.`);
}

const NOT_BUILT = { status: 'not built' as const, stage: '', share: null, error: null };

async function sessionPage(api: EngramApi, page: Page) {
  const answer = await api.get<{ sessions: readonly SessionRow[]; total: number; has_more: boolean }>(
    '/api/v1/sessions',
    {
      ...page,
      range: 'all',
    },
  );
  const sessions = answer.sessions.map(({ session_id, effective_status, started_at, last_activity_at }) => ({
    session_id,
    started_at,
    last_activity_at,
    status: effective_status,
  }));
  const next = answer.has_more ? page.offset + sessions.length : null;
  const lines = sessions.map((each) => `- ${each.session_id}: ${each.status}, last used ${each.last_activity_at}`);
  const text = lines.length === 0 ? 'No session is kept.' : [...lines, ...moreLine(next)].join('\n');
  return { text, data: { sessions, total: answer.total, next_offset: next } };
}

async function readSession(api: EngramApi, id: string) {
  const detail = await api.get<SessionDetail>(`/api/v1/sessions/${encodeURIComponent(id)}`).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new ToolError(`There is no session "${id}" of yours. Call sessions without session_id to list them.`);
  });
  const entries = detail.qas.map(({ time, question, answer }) => ({
    time: time ?? null,
    question: question ?? '',
    answer: answer ?? '',
  }));
  const lines = entries.map(({ question, answer }) => (question === '' ? `- ${answer}` : `- ${question}\n  ${answer}`));
  const session = { session_id: detail.session_id, label: detail.label, entries, steps: detail.tool_calls ?? 0 };
  return { text: [`Session ${detail.session_id}: ${entries.length} entries`, ...lines].join('\n'), data: { session } };
}
