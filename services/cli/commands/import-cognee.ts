import type { DatasetDTO, PipelineRunInfo } from '../../client/index.ts';
import { IMPORTED_FROM, importedMetadata } from '../../common/domain/item-time.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { type ExportFormat, mem0Export, openCogxArchive, openJsonExport, zepExport } from '../archive-sources.ts';
import { createCogneeSource, type ImportSource, type SourceDataset, type SourceItem } from '../cognee-source.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { clientSettings } from '../options.ts';
import { createProgress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { webAddress } from '../web-address.ts';
import { runCognify } from './cognify.ts';
import { importPeople, importSessions } from './import-people.ts';
import { createReport, printReport, type Report, reasonOf } from './import-report.ts';

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

async function cognifyAll(call: CommandCall, targets: readonly DatasetDTO[]): Promise<number> {
  let code: number = exitCodes.ok;
  for (const { id } of targets) code = Math.max(code, await runCognify({ ...call, dataset: id }, { wait: true }));
  return code;
}
