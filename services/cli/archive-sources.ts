import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { parseJson } from '../common/kernel/json.ts';
import { type CogxArchive, readCogx, textOf } from '../common/text/archives/cogx.ts';
import { type ArchiveMember, InvalidArchive, tarMembers } from '../common/text/archives/members.ts';
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
    [Symbol.asyncDispose]: async () => {},
  };
}

/**
 * Opens a COGX archive, the folder that `cognee.export(format="cogx")` writes, or one packed as `.tar.gz`. Errors: `CliFailure`
 * when it is none.
 */
export async function openCogxArchive(path: string): Promise<ImportSource> {
  const archive = await readArchive(path);
  const { documents, refused, counts, sourceSystem: system } = archive;
  const { entity = 0, fact = 0 } = counts;
  const dataset = archive.dataset ?? basename(resolve(path)).replace(/(\.cogx)?(\.tar\.gz|\.tgz)?$/, '');
  const byId = new Map(documents.map((document) => [document.id, document]));
  return {
    name: path,
    system,
    refused,
    people: null,
    leftBehind: [
      ...(entity + fact === 0
        ? []
        : [`${entity} entities and ${fact} facts of the archive: the graph is built anew by cognify`]),
      'files other than text: the archive holds what was read from them, not the originals',
      'users and permissions: the archive may name them, with hashes of passwords; keep it safe',
    ],
    datasets: async () => [{ id: dataset, name: dataset }],
    async *items() {
      for (const { id, fileName, createdAt, metadata, nodeSets } of documents) {
        yield {
          id,
          createdAt: createdAt ?? new Date().toISOString(),
          mimeType: 'text/plain',
          label: null,
          name: parse(fileName ?? '').name,
          extension: parse(fileName ?? '').ext.slice(1) || 'txt',
          externalMetadata: { ...metadata, ...(nodeSets.length > 0 ? { node_set: nodeSets } : {}) },
        };
      }
    },
    async original(_dataset, id) {
      const document = byId.get(id);
      return new Blob([document === undefined ? '' : await textOf(document)], { type: 'text/plain' });
    },
    [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose](),
  };
}

async function readArchive(path: string): Promise<CogxArchive> {
  const found = await stat(path).catch((error: Error) => {
    throw new CliFailure(`${path} cannot be read: ${error.message}`, exitCodes.usage, { cause: error });
  });
  try {
    const members = found.isDirectory() ? folderMembers(path) : tarMembers(createReadStream(path));
    return await readCogx(members, { maxDocuments: 1_000_000 });
  } catch (error) {
    if (!(error instanceof InvalidArchive)) throw error;
    const hint = 'Give the folder that cognee.export(format="cogx") wrote, or one packed as .tar.gz.';
    throw new CliFailure(`${path} is no COGX archive. ${error.message} ${hint}`, exitCodes.usage, { cause: error });
  }
}

async function* folderMembers(folder: string): AsyncGenerator<ArchiveMember> {
  for (const name of ['manifest.json', 'nodes.jsonl', 'documents.jsonl']) {
    if (existsSync(join(folder, name))) yield { name, content: createReadStream(join(folder, name)) };
  }
}

/** An export of another memory as JSON: a list of records, or an object with the list. */
export interface ExportFormat {
  readonly system: string;
  /** Names of the list in an object. */
  readonly lists: readonly string[];
  /** Null: the record has no text. */
  itemOf(record: Readonly<Record<string, unknown>>): Pick<ArchivedItem, 'text' | 'id' | 'externalMetadata'> | null;
}

/** Format of mem0's `get_all`: `[{id, memory, created_at, metadata, categories, user_id, …}]`. */
export const mem0Export: ExportFormat = {
  system: 'mem0',
  lists: ['results', 'memories'],
  itemOf({ id, memory, metadata, categories, user_id, agent_id, run_id }) {
    if (typeof memory !== 'string') return null;
    const tags = Array.isArray(categories) && categories.length > 0 ? { node_set: categories } : {};
    const externalMetadata = { ...Object(metadata), ...textsOf({ user_id, agent_id, run_id }), ...tags };
    return { id: String(id), text: memory, externalMetadata };
  },
};

/** Format of Zep's list of episodes: `[{uuid, content, created_at, source, role, thread_id, metadata, …}]`. */
export const zepExport: ExportFormat = {
  system: 'zep',
  lists: ['episodes', 'items'],
  itemOf({ uuid, content, role, metadata, source_description, session_id, thread_id }) {
    if (typeof content !== 'string') return null;
    // Who speaks is not in the content of a message.
    const isUnnamed = typeof role !== 'string' || role === '' || content.startsWith(`${role}:`);
    const externalMetadata = { ...Object(metadata), ...textsOf({ source_description, session_id, thread_id, role }) };
    return { id: String(uuid), text: isUnnamed ? content : `${role}: ${content}`, externalMetadata };
  },
};

function textsOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== ''));
}

/** Errors: `CliFailure` when the file holds no such list. */
export async function openJsonExport(file: string, dataset: string, format: ExportFormat): Promise<ImportSource> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CliFailure(`${file} cannot be read: ${error.message}`, exitCodes.usage, { cause: error });
  });
  const list = listOf(text, format.lists);
  if (!Array.isArray(list)) {
    const wanted = [...format.lists, 'an array'].join(', ').replace(/, (?=[^,]*$)/, ' or ');
    throw new CliFailure(`${file} holds no JSON list of ${format.system} (${wanted}).`, exitCodes.failed);
  }
  const items = list.flatMap((entry: unknown): ArchivedItem[] => {
    const record = Object(entry) as Record<string, unknown>;
    const item = format.itemOf(record);
    if (item === null || item.text.trim() === '') return [];
    const { created_at: time } = record;
    const createdAt = typeof time === 'string' ? time : new Date().toISOString();
    return [{ ...item, createdAt, name: '', extension: 'txt', mimeType: 'text/plain', label: null }];
  });
  const unread = list.length - items.length;
  const leftBehind = unread === 0 ? [] : [`${unread} entries without a text`];
  return textSource({ name: file, system: format.system, leftBehind, dataset }, items);
}

function listOf(text: string, names: readonly string[]): unknown {
  const value = parseJson(text);
  return Array.isArray(value) ? value : names.map((name) => Object(value)[name]).find(Array.isArray);
}
