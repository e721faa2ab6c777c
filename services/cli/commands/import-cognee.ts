import type { DatasetDTO, PipelineRunInfo } from '../../client/index.ts';
import { IMPORTED_FROM, importedMetadata } from '../../common/domain/item-time.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { ApiFailure } from '../api-client.ts';
import { type ExportFormat, mem0Export, openCogxArchive, openJsonExport, zepExport } from '../archive-sources.ts';
import {
  createCogneeSource,
  type ImportSource,
  PERMISSIONS,
  type SourceDataset,
  type SourceItem,
  type SourcePeople,
  type SourceSession,
  type SourceUser,
} from '../cognee-source.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { clientSettings } from '../options.ts';
import { count, harmless, note, print, printJson } from '../output.ts';
import { invite, userIdOf } from '../people.ts';
import { createProgress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { webAddress } from '../web-address.ts';
import { runCognify } from './cognify.ts';

export const importCogneeCommand: Command = {
  name: 'import-cognee',
  usage: '',
  summary: 'Brings over what a running cognee server or an archive of one holds.',
  details:
    'From a server: datasets with their items (original bytes, labels, tags, metadata, dates), sessions and, with --people, users\nand permissions. From a COGX archive (the folder that cognee.export(format="cogx") writes, or its .tar.gz): the texts of its\ndocuments. Graphs are not copied: build them here with --cognify. The import can be stopped and started again; what has been brought\nover is not fetched twice. At the end it reports what was left behind.',
  options: {
    from: { type: 'string', value: 'URL|ARCHIVE', meaning: 'address of the cognee server, or the archive; required' },
    'from-key': { type: 'string', value: 'KEY', meaning: 'API key there (COGNEE_API_KEY)' },
    'from-token': { type: 'string', value: 'TOKEN', meaning: 'bearer token there (COGNEE_API_TOKEN)' },
    people: { type: 'boolean', meaning: 'also users of the tenants and their permissions' },
    cognify: { type: 'boolean', meaning: 'build the graphs afterwards' },
    'dry-run': { type: 'boolean', meaning: 'only count what would be brought over' },
  },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('Takes options only. See: engram import-cognee --help');
    const from = stringOption(call.options, 'from');
    if (from === null)
      throw usageFailure('Name the cognee server or archive: --from http://host:8000 or --from archive');
    await using source = /^https?:\/\//.test(from)
      ? createCogneeSource(sourceSettings(call, from))
      : await openCogxArchive(from);
    return await importFrom(call, source);
  },
};

export const importMem0Command: Command = jsonImport(mem0Export, {
  summary: 'Adds the memories of a mem0 export to a dataset.',
  details:
    "Reads what mem0's get_all answers, saved as JSON: an array of memories, or an object with results or memories. Each memory\nkeeps its date and metadata. The import can be started again; what has been brought over is not added twice.",
});

export const importZepCommand: Command = jsonImport(zepExport, {
  summary: 'Adds the episodes of a Zep graph to a dataset.',
  details:
    'Reads what Zep answers for the episodes of a user, graph or thread, saved as JSON: an array of episodes, or an object with\nepisodes or items. Each episode keeps its date, speaker and metadata; facts and entities are built anew by --cognify. The\nimport can be started again; what has been brought over is not added twice.',
});

function jsonImport(format: ExportFormat, texts: Pick<Command, 'summary' | 'details'>): Command {
  const name = `import-${format.system}`;
  return {
    name,
    usage: '<file.json>',
    ...texts,
    options: {
      cognify: { type: 'boolean', meaning: 'build the graph afterwards' },
      'dry-run': { type: 'boolean', meaning: 'only count what would be brought over' },
    },
    async run(call) {
      const [file, ...more] = call.arguments;
      if (file === undefined || more.length > 0) throw usageFailure(`Name one file. See: engram ${name} --help`);
      await using source = await openJsonExport(file, call.dataset, format);
      return await importFrom({ ...call, datasetGiven: null }, source);
    },
  };
}

async function importFrom(call: CommandCall, source: ImportSource): Promise<number> {
  const report = createReport();
  const isDryRun = isSet(call.options, 'dry-run');
  const targets = new Map<string, DatasetDTO>();
  for (const dataset of await chosenDatasets(call, source)) {
    const target = isDryRun ? null : await createDataset(call, dataset.name);
    if (target !== null) targets.set(dataset.id, target);
    await importItems(call, source, { dataset, target, report });
  }
  for (const { name, reason } of source.refused ?? []) report.failed.push({ what: name, reason });
  for (const reason of source.leftBehind) report.leftBehind.add(reason);
  if (source.people !== null) {
    await importSessions(call, source.people, { targets, isDryRun, report });
    if (isSet(call.options, 'people') && !isDryRun) await importPeople(call, source.people, { targets, report });
  }
  printReport(call, report);
  const cognified =
    isSet(call.options, 'cognify') && !isDryRun ? await cognifyAll(call, [...targets.values()]) : exitCodes.ok;
  return report.failed.length === 0 ? cognified : exitCodes.failed;
}

interface Report {
  items: number;
  known: number;
  entries: number;
  sessions: number;
  users: number;
  grants: number;
  readonly failed: { readonly what: string; readonly reason: string }[];
  readonly leftBehind: Set<string>;
  readonly invitations: { readonly email: string; readonly link: string | null }[];
}

function createReport(): Report {
  return {
    items: 0,
    known: 0,
    entries: 0,
    sessions: 0,
    users: 0,
    grants: 0,
    failed: [],
    leftBehind: new Set(),
    invitations: [],
  };
}

function sourceSettings(call: CommandCall, from: string): Parameters<typeof createCogneeSource>[0] {
  const { environment } = call.terminal;
  const key = stringOption(call.options, 'from-key') ?? environment['COGNEE_API_KEY'] ?? '';
  const token = stringOption(call.options, 'from-token') ?? environment['COGNEE_API_TOKEN'] ?? '';
  const { timeoutMs } = clientSettings(call.options, environment);
  return {
    baseUrl: from.replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
    apiKey: key === '' ? undefined : key,
    token: token === '' ? undefined : token,
    timeoutMs,
  };
}

async function chosenDatasets(call: CommandCall, source: ImportSource): Promise<readonly SourceDataset[]> {
  const all = await source.datasets();
  if (call.datasetGiven === null) return all;
  const chosen = all.filter(({ id, name }) => id === call.datasetGiven || name === call.datasetGiven);
  if (chosen.length > 0) return chosen;
  const names = all.map(({ name }) => name).join(', ');
  throw new CliFailure(
    `There is no dataset '${call.datasetGiven}' at ${source.name}. It has: ${names === '' ? 'none' : names}.`,
    exitCodes.failed,
  );
}

function createDataset(call: CommandCall, name: string): Promise<DatasetDTO> {
  return call.api.json<DatasetDTO>('POST', '/api/v1/datasets', { body: { name } });
}

interface ItemImport {
  readonly dataset: SourceDataset;
  /** Null: only counted. */
  readonly target: DatasetDTO | null;
  readonly report: Report;
}

async function importItems(call: CommandCall, source: ImportSource, { dataset, target, report }: ItemImport) {
  const present = target === null ? new Set<string>() : await importedIds(call, target.id);
  const items: SourceItem[] = [];
  for await (const item of source.items(dataset.id)) items.push(item);
  const progress = createProgress(call.terminal, `Importing ${dataset.name}`, {
    total: items.length,
    unit: 'items',
    whenInterrupted: () => 'What has been sent is kept. To go on, give the same command again.',
  });
  try {
    for (const [index, item] of items.entries()) {
      if (present.has(originOf(source, item))) report.known += 1;
      else if (target === null) report.items += 1;
      else await importItem(call, source, { dataset, target, report }, item);
      progress.update(index + 1, fileNameOf(item));
    }
  } finally {
    progress.stop();
  }
}

function originOf({ system }: ImportSource, { id }: SourceItem): string {
  return `${system}:${id}`;
}

async function importedIds(call: CommandCall, dataset: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let offset = 0, size = 1_000; size === 1_000; offset += size) {
    const page = await call.api.json<readonly Pick<SourceItem, 'externalMetadata'>[]>(
      'GET',
      `/api/v1/datasets/${dataset}/data`,
      { query: { limit: '1000', offset: String(offset) } },
    );
    size = page.length;
    for (const { externalMetadata } of page) ids.add(String(externalMetadata?.[IMPORTED_FROM] ?? ''));
  }
  return ids;
}

async function importItem(
  call: CommandCall,
  source: ImportSource,
  { dataset, target, report }: ItemImport,
  item: SourceItem,
): Promise<void> {
  try {
    const bytes = await source.original(dataset.id, item.id);
    const form = new FormData();
    if (isBareText(item)) form.append('raw_data', await bytes.text());
    else
      form.append(
        'data',
        bytes.type === '' ? new Blob([bytes], { type: item.mimeType ?? '' }) : bytes,
        fileNameOf(item),
      );
    form.append('datasetId', target?.id ?? '');
    if (item.label !== null) form.append('labels', JSON.stringify([item.label]));
    const { _cognee, node_set, ...metadata } = item.externalMetadata ?? {};
    for (const tag of Array.isArray(node_set) ? node_set : []) form.append('node_set', String(tag));
    const facts = { origin: originOf(source, item), writtenAt: inUtc(item.createdAt) };
    form.append('external_metadata', JSON.stringify([importedMetadata(metadata as JsonObject, facts)]));
    const answer = await call.api.json<PipelineRunInfo>('POST', '/api/v1/add', { body: form });
    const isKnown = answer.data_ingestion_info?.[0]?.run_info.status === 'PipelineRunAlreadyCompleted';
    if (isKnown) report.known += 1;
    else report.items += 1;
  } catch (error) {
    report.failed.push({ what: `${dataset.name}/${fileNameOf(item)}`, reason: reasonOf(error) });
  }
}

/** Cognee writes times in UTC without saying so. */
function inUtc(time: string): string {
  return /(?:z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`;
}

/** Cognee names a text that came without a file by its hash. */
function isBareText({ name, extension }: SourceItem): boolean {
  return name === '' || (extension === 'txt' && /^text_[\da-f]{32}$/.test(name));
}

/** The name at the source: cognee keeps the stem, and the address it came from. */
function fileNameOf({ name, extension, externalMetadata }: SourceItem): string {
  const { source_uri: uri } = (externalMetadata?.['_cognee'] ?? {}) as { source_uri?: unknown };
  const last = typeof uri === 'string' ? (webAddress(uri)?.pathname.split('/').at(-1) ?? '') : '';
  if (last.startsWith(`${encodeURIComponent(name)}.`)) return decodeURIComponent(last);
  return extension === null || extension === '' ? name : `${name}.${extension}`;
}

interface SessionImport {
  readonly targets: ReadonlyMap<string, DatasetDTO>;
  readonly isDryRun: boolean;
  readonly report: Report;
}

async function importSessions(call: CommandCall, source: SourcePeople, { targets, isDryRun, report }: SessionImport) {
  for await (const { session_id: id, dataset_id } of source.sessions()) {
    const target = targets.get(dataset_id ?? '');
    if (target === undefined && (!isDryRun || call.datasetGiven !== null)) {
      if (call.datasetGiven === null) report.leftBehind.add('sessions of datasets that the key may not read');
      continue;
    }
    try {
      const session = await source.session(id);
      const entries = entriesOf(session);
      if (target !== undefined) await sendEntries(call, { id, dataset: target.id }, entries, report);
      else report.entries += entries.length;
      report.sessions += 1;
      if (entries.length > 0) report.leftBehind.add('times of session turns: they carry the time of the import');
    } catch (error) {
      report.failed.push({ what: `session ${id}`, reason: reasonOf(error) });
    }
  }
}

type Entry = Readonly<Record<string, unknown>> & { readonly type: 'qa' | 'trace' };

function entriesOf({ qas = [], traces = [] }: SourceSession): readonly Entry[] {
  const entries: Entry[] = [];
  for (const { question = '', context = '', answer = '', feedback_text, feedback_score } of qas) {
    entries.push({ type: 'qa', question, context, answer, feedback_text, feedback_score });
  }
  for (const trace of traces) {
    const { origin_function, status, memory_query, memory_context, method_params, method_return_value, error_message } =
      trace;
    const fields = { origin_function, status, memory_query, memory_context, error_message };
    entries.push({ type: 'trace', ...fields, method_params, method_return_value });
  }
  return entries;
}

/** Sends the entries that the session does not hold yet. */
async function sendEntries(
  call: CommandCall,
  { id, dataset }: { readonly id: string; readonly dataset: string },
  entries: readonly Entry[],
  report: Report,
): Promise<void> {
  const present = await call.api
    .json<SourceSession>('GET', `/api/v1/sessions/${encodeURIComponent(id)}`)
    .then((session) => countsOf(entriesOf(session)))
    .catch((error: unknown) => {
      if (error instanceof ApiFailure && error.status === 404) return new Map<string, number>();
      throw error;
    });
  for (const entry of entries) {
    const key = keyOf(entry);
    const left = present.get(key) ?? 0;
    if (left > 0) {
      present.set(key, left - 1);
      continue;
    }
    await call.api.json('POST', '/api/v1/remember/entry', { body: { entry, dataset_id: dataset, session_id: id } });
    report.entries += 1;
  }
}

function countsOf(entries: readonly Entry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  return counts;
}

/** Key that is equal for entries that say the same; stored values of a trace are cut, so those are left out. */
function keyOf(entry: Entry): string {
  const { type, question, answer, origin_function, status } = entry;
  return JSON.stringify(type === 'qa' ? [type, question, answer] : [type, origin_function, status]);
}

async function importPeople(
  call: CommandCall,
  source: SourcePeople,
  { targets, report }: Pick<SessionImport, 'targets' | 'report'>,
): Promise<void> {
  const me = await call.api.json<SourceUser & { readonly tenant_id: string | null }>('GET', '/api/v1/users/me');
  for (const user of await source.users()) {
    if (user.email.toLowerCase() === me.email.toLowerCase()) continue;
    try {
      const { id, invitation } = await accountFor(call, user.email);
      if (invitation !== null) {
        report.users += 1;
        report.leftBehind.add('passwords: new users choose theirs by the link of their invitation');
        const { link } = invitation;
        report.invitations.push({ email: user.email, link });
        // The only time that it is shown: not left to the end, which an error may keep from coming.
        const way = link === null ? 'by mail' : `give this link to them: ${link}`;
        note(call, `invited ${harmless(user.email)}, ${way}`);
        if (me.tenant_id !== null) await joinTenant(call, id, me.tenant_id);
      }
      for (const permission of PERMISSIONS) {
        const permitted = await source.permitted(user.id, permission);
        const datasets = permitted.flatMap((dataset) => targets.get(dataset.id)?.id ?? []);
        if (datasets.length === 0) continue;
        await call.api.json('POST', `/api/v1/permissions/datasets/${id}`, {
          query: { permission_name: permission },
          body: datasets,
        });
        report.grants += datasets.length;
      }
    } catch (error) {
      report.failed.push({ what: `user ${user.email}`, reason: reasonOf(error) });
    }
  }
  report.leftBehind.add('roles, API keys and agents: make them here');
}

/** Finds the account of an address, or invites its owner. */
async function accountFor(call: CommandCall, email: string) {
  const present = await userIdOf(call, email).catch((error: unknown) => {
    if (error instanceof ApiFailure && error.status === 404) return null;
    throw error;
  });
  if (present !== null) return { id: present, invitation: null };
  const invitation = await invite(call, email);
  return { id: invitation.user.id, invitation };
}

async function joinTenant(call: CommandCall, user: string, tenant: string): Promise<void> {
  await call.api.json('POST', `/api/v1/permissions/users/${user}/tenants`, { query: { tenant_id: tenant } });
}

async function cognifyAll(call: CommandCall, targets: readonly DatasetDTO[]): Promise<number> {
  let code: number = exitCodes.ok;
  for (const { id } of targets) code = Math.max(code, await runCognify({ ...call, dataset: id }, { wait: true }));
  return code;
}

function printReport(call: CommandCall, report: Report): void {
  const { items, known, sessions, entries, users, grants, failed, leftBehind, invitations } = report;
  if (call.asJson) {
    printJson(call, {
      items,
      already_there: known,
      sessions,
      entries,
      users,
      grants,
      failed,
      left_behind: [...leftBehind],
      invitations,
    });
    return;
  }
  for (const { what, reason } of failed) note(call, `failed: ${harmless(what)}: ${reason}`);
  for (const reason of leftBehind) note(call, `not carried over: ${reason}`);
  const verb = isSet(call.options, 'dry-run') ? 'would be brought over' : 'brought over';
  const parts = [`${count(items, 'item')} ${verb}`];
  if (known > 0) parts.push(`${known} already there`);
  if (sessions > 0) parts.push(`${count(sessions, 'session')} with ${count(entries, 'new turn')}`);
  if (users + grants > 0) parts.push(`${count(users, 'user')}, ${count(grants, 'permission')}`);
  if (failed.length > 0) parts.push(`${failed.length} failed`);
  print(call, parts.join(', '));
}

function reasonOf(error: unknown): string {
  if (error instanceof CliFailure && error.exitCode !== exitCodes.unreachable) return error.message;
  throw error;
}
