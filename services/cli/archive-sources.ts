import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { ImportSource, SourceItem } from './cognee-source.ts';
import { CliFailure, exitCodes } from './terminal.ts';

interface ArchivedItem extends SourceItem {
  readonly text: string;
}

/** A source of texts that are read from files. */
function textSource(
  source: Pick<ImportSource, 'name' | 'system' | 'leftBehind'> & { readonly dataset: string },
  items: readonly ArchivedItem[],
): ImportSource {
  const { dataset, ...described } = source;
  const byId = new Map(items.map((item) => [item.id, item]));
  return {
    ...described,
    people: null,
    datasets: async () => [{ id: dataset, name: dataset }],
    async *items() {
      yield* items;
    },
    original: async (_dataset, id) => new Blob([byId.get(id)?.text ?? ''], { type: 'text/plain' }),
  };
}

interface ChunkNode {
  readonly id: string;
  readonly type?: string;
  readonly text?: string;
  readonly created_at?: number;
  readonly chunk_index?: number;
  readonly document_id?: string;
  readonly document_name?: string;
  /** JSON of an object. */
  readonly external_metadata?: string;
}

/**
 * Opens a COGX archive, the folder that `cognee.export(format="cogx")` writes: `manifest.json`, `nodes.jsonl` (all nodes of the
 * graph, chunks with text, index and document) and `documents.jsonl` (texts; the only ones of an archive of another system).
 * Errors: `CliFailure` when it is none.
 */
export async function openCogxArchive(folder: string): Promise<ImportSource> {
  const manifest = await readManifest(folder);
  const documents = await documentsOf(folder);
  const texts = documents.length > 0 ? documents : await looseTexts(folder);
  const [, dataset = basename(resolve(folder))] = /dataset '([^']+)'/.exec(manifest.notes.join(' ')) ?? [];
  const { entity = 0, fact = 0 } = manifest.counts;
  return textSource(
    {
      ...{ name: folder, system: 'cognee', dataset },
      leftBehind: [
        `${entity} entities and ${fact} facts of the archive: the graph is built anew by cognify`,
        'files other than text: the archive holds what was read from them, not the originals',
        'users and permissions: the archive names them, with hashes of passwords; keep it safe',
      ],
    },
    texts,
  );
}

async function readManifest(folder: string): Promise<{ counts: Record<string, number>; notes: string[] }> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch(() => null);
  if (text === null) {
    const what = `${folder} is no COGX archive: it has no manifest.json.`;
    throw new CliFailure(`${what} Give the folder that cognee.export(format="cogx") wrote.`, exitCodes.usage);
  }
  const { cogx_version: version, counts, notes } = parseObject(text, 'manifest.json');
  if (typeof version !== 'string' || !version.startsWith('0.')) {
    throw new CliFailure(`${folder} has COGX version ${String(version)}; this reads 0.x.`, exitCodes.failed);
  }
  return {
    counts: Object(counts) as Record<string, number>,
    notes: Array.isArray(notes) ? notes.map(String) : [],
  };
}

/** Documents put together from their chunks, in order. */
async function documentsOf(folder: string): Promise<ArchivedItem[]> {
  const chunks = new Map<string, ChunkNode[]>();
  for await (const node of linesOf<ChunkNode>(join(folder, 'nodes.jsonl'))) {
    if (node.type !== 'DocumentChunk' || typeof node.text !== 'string') continue;
    const document = node.document_id ?? node.id;
    const known = chunks.get(document);
    if (known === undefined) chunks.set(document, [node]);
    else known.push(node);
  }
  return [...chunks].map(([id, parts]) => {
    parts.sort((a, b) => (a.chunk_index ?? 0) - (b.chunk_index ?? 0));
    const [first] = parts;
    return {
      id,
      name: first?.document_name ?? `text_${id}`,
      createdAt: new Date(first?.created_at ?? Date.now()).toISOString(),
      ...{ extension: 'txt', mimeType: 'text/plain', label: null },
      externalMetadata: first?.external_metadata === undefined ? null : metadataOf(first.external_metadata),
      text: parts.map(({ text }) => text).join(''),
    };
  });
}

/** Keeps the name of a text file only: of others the archive has the text that was read from them. */
function metadataOf(json: string): Record<string, unknown> {
  const { _cognee, ...own } = parseObject(json, 'nodes.jsonl');
  return /\.(?:txt|md|markdown)"/i.test(JSON.stringify(_cognee ?? null)) ? { _cognee, ...own } : own;
}

async function looseTexts(folder: string): Promise<ArchivedItem[]> {
  const items: ArchivedItem[] = [];
  for await (const line of linesOf<Record<string, unknown>>(join(folder, 'documents.jsonl'))) {
    const { external_id: id, content, created_at: time, metadata } = line;
    if (typeof content === 'string') items.push(bareText({ id: String(id), text: content, time, metadata }));
  }
  return items;
}

interface BareText {
  readonly id: string;
  readonly text: string;
  readonly time: unknown;
  readonly metadata: unknown;
}

function bareText({ id, text, time, metadata }: BareText): ArchivedItem {
  const createdAt = typeof time === 'string' ? time : new Date().toISOString();
  const externalMetadata = Object(metadata) as Record<string, unknown>;
  const common = { extension: 'txt', mimeType: 'text/plain', label: null };
  return { id, name: '', createdAt, ...common, externalMetadata, text };
}

async function* linesOf<T>(file: string): AsyncGenerator<T> {
  const stream = createReadStream(file);
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() !== '') yield parseObject(line, basename(file)) as T;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new CliFailure(`${file} has a line that is no JSON object: ${text.slice(0, 80)}`, exitCodes.failed);
}

/**
 * Reads memories as mem0's `get_all` answers them: `[{id, memory, created_at, metadata, categories, user_id, …}]`, also below
 * `results` or `memories`. Errors: `CliFailure` when the file holds no such thing.
 */
export async function openMem0Export(file: string, dataset: string): Promise<ImportSource> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CliFailure(`${file} cannot be read: ${error.message}`, exitCodes.usage, { cause: error });
  });
  const parsed = parseObject(text, basename(file));
  const list = Array.isArray(parsed) ? parsed : (parsed['results'] ?? parsed['memories']);
  if (!Array.isArray(list)) {
    throw new CliFailure(`${file} holds no list of memories (results, memories or an array).`, exitCodes.failed);
  }
  const items = list.flatMap((entry: unknown): ArchivedItem[] => {
    const {
      id,
      memory,
      created_at: time,
      metadata,
      categories,
      user_id,
      agent_id,
      run_id,
    } = Object(entry) as Record<string, unknown>;
    if (typeof memory !== 'string' || memory.trim() === '') return [];
    const origin = Object.fromEntries(
      Object.entries({ user_id, agent_id, run_id }).filter(([, value]) => typeof value === 'string'),
    );
    const tags = Array.isArray(categories) && categories.length > 0 ? { node_set: categories } : {};
    return [
      bareText({
        id: String(id),
        text: memory,
        time,
        metadata: { ...(Object(metadata) as object), ...origin, ...tags },
      }),
    ];
  });
  const unread = list.length - items.length;
  const leftBehind = unread === 0 ? [] : [`${unread} entries without a memory text`];
  return textSource({ name: file, system: 'mem0', leftBehind, dataset }, items);
}
