import { open, opendir, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { PipelineRunInfo } from '../../client/index.ts';
import type { DocumentLoader } from '../../common/ports/documents.ts';
import { ApiFailure } from '../api-client.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { count, harmless, note, print, printJson } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { formOf } from './add.ts';
import { runCognify } from './cognify.ts';

const BATCH_FILES = 16;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Requests in flight: one is parsed by the server while the next travels. */
const PARALLEL_BATCHES = 2;
const RETRIES = 3;
const DEFAULT_MAX_MEGABYTES = 50;

export const importCommand: Command = {
  name: 'import',
  usage: '<folder>',
  summary: 'Adds all documents below a folder to a dataset.',
  details:
    'Hidden files and what is no document (pictures, archives, programs) are passed over. The import can be stopped and started again:\nthe server knows what it has by content, and sends nothing twice into the dataset.',
  options: {
    'max-size': { type: 'string', value: 'MB', meaning: `pass over larger files, default ${DEFAULT_MAX_MEGABYTES}` },
    'node-set': { type: 'string', multiple: true, value: 'TAG', meaning: 'tag for the items, can be repeated' },
    cognify: { type: 'boolean', meaning: 'build the graph afterwards' },
    'dry-run': { type: 'boolean', meaning: 'only list what would be added' },
  },
  async run(call) {
    const [folder, ...more] = call.arguments;
    if (folder === undefined || more.length > 0) throw usageFailure('Name one folder. See: engram import --help');
    const { files, skipped } = await findFiles(call, folder);
    if (isSet(call.options, 'dry-run')) return listOnly(call, files, skipped);
    if (files.length === 0) {
      noteSkipped(call, skipped);
      throw new CliFailure(`There is no document below ${folder}.`, exitCodes.failed);
    }
    const outcome = await importFiles(call, files);
    reportOutcome(call, outcome, skipped);
    const isComplete = outcome.failed.length === 0;
    if (!isSet(call.options, 'cognify') || outcome.added + outcome.known === 0)
      return isComplete ? exitCodes.ok : exitCodes.failed;
    const cognified = await runCognify(call, { wait: true });
    return isComplete ? cognified : exitCodes.failed;
  },
};

async function findFiles(call: CommandCall, folder: string): Promise<{ files: FoundFile[]; skipped: SkippedFile[] }> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true)
    throw usageFailure(found === null ? `There is no folder ${folder}.` : `${folder} is no folder: use engram add.`);
  const megabytes = Number(stringOption(call.options, 'max-size') ?? DEFAULT_MAX_MEGABYTES);
  if (!(megabytes > 0)) throw usageFailure('--max-size needs a number of megabytes');
  const { detectOfHead } = await import('../../common/text/documents/detect-format.ts');
  return walkFolder(resolve(folder), { maxBytes: megabytes * 1024 * 1024, detect: detectOfHead });
}

function listOnly(call: CommandCall, files: readonly FoundFile[], skipped: readonly SkippedFile[]): number {
  if (call.asJson)
    printJson(call, {
      files: files.map(({ relativePath, sizeBytes }) => ({ path: relativePath, sizeBytes })),
      skipped,
    });
  else {
    for (const { relativePath } of files) print(call, relativePath);
    noteSkipped(call, skipped);
    note(call, `${count(files.length, 'file')} would be added, ${count(skipped.length, 'file')} passed over`);
  }
  return exitCodes.ok;
}

interface Outcome {
  added: number;
  known: number;
  readonly failed: { readonly path: string; readonly reason: string }[];
  readonly startedAt: number;
}

async function importFiles(call: CommandCall, files: readonly FoundFile[]): Promise<Outcome> {
  const outcome: Outcome = { added: 0, known: 0, failed: [], startedAt: Date.now() };
  const batches = batchesOf(files);
  const progress = createProgress(call.terminal, 'Importing', {
    total: files.length,
    unit: 'files',
    whenInterrupted: () =>
      `${count(outcome.added + outcome.known, 'file')} of ${files.length} sent. To go on, give the same command again.`,
  });
  try {
    await Promise.all(
      Array.from({ length: PARALLEL_BATCHES }, async () => {
        for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
          await sendBatch(call, batch, { outcome, progress });
        }
      }),
    );
  } finally {
    progress.stop();
  }
  return outcome;
}

function batchesOf(files: readonly FoundFile[]): FoundFile[][] {
  const batches: FoundFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = batches.at(-1);
    if (last === undefined || last.length === BATCH_FILES || bytes + file.sizeBytes > BATCH_BYTES) {
      batches.push([file]);
      bytes = file.sizeBytes;
    } else {
      last.push(file);
      bytes += file.sizeBytes;
    }
  }
  return batches;
}

interface ImportState {
  readonly outcome: Outcome;
  readonly progress: Progress;
}

/** The server names the bad files of a batch; when it refuses the whole batch, its files are sent one by one. */
async function sendBatch(call: CommandCall, batch: readonly FoundFile[], state: ImportState): Promise<void> {
  const { outcome, progress } = state;
  try {
    const answer = await upload(call, batch);
    const known = (answer.data_ingestion_info ?? []).filter(
      ({ run_info }) => run_info.status === 'PipelineRunAlreadyCompleted',
    ).length;
    const refused = answer.refused ?? [];
    outcome.known += known;
    outcome.added += batch.length - known - refused.length;
    for (const { index, message } of refused) {
      outcome.failed.push({ path: batch[index]?.relativePath ?? '', reason: message });
    }
  } catch (error) {
    if (!(error instanceof ApiFailure) || !isAboutContent(error.status)) throw error;
    if (batch.length > 1) {
      for (const file of batch) await sendBatch(call, [file], state);
      return;
    }
    outcome.failed.push({ path: batch[0]?.relativePath ?? '', reason: error.message });
  }
  progress.update(outcome.added + outcome.known + outcome.failed.length, batch.at(-1)?.relativePath ?? '');
}

/** Missing rights, a missing key or an unknown dataset concern every file: the import ends with the first such answer. */
function isAboutContent(status: number): boolean {
  return status === 400 || status === 409 || status === 413 || status === 415 || status === 422 || status === 500;
}

async function upload(call: CommandCall, batch: readonly FoundFile[]): Promise<PipelineRunInfo> {
  const form = await formOf(
    call,
    batch.map(({ path }) => path),
  );
  form.append('external_metadata', JSON.stringify(batch.map(({ relativePath }) => ({ source_path: relativePath }))));
  return call.api.json<PipelineRunInfo>('POST', '/api/v1/add', { body: form, retries: RETRIES });
}

function reportOutcome(call: CommandCall, outcome: Outcome, skipped: readonly SkippedFile[]): void {
  const { added, known, failed, startedAt } = outcome;
  const seconds = (Date.now() - startedAt) / 1_000;
  if (call.asJson) {
    printJson(call, {
      dataset: call.dataset,
      added,
      already_there: known,
      failed,
      skipped,
      duration_ms: Math.round(seconds * 1_000),
    });
    return;
  }
  noteSkipped(call, skipped);
  for (const { path, reason } of failed) note(call, `failed: ${harmless(path)}: ${reason}`);
  const parts = [`${count(added, 'file')} added to ${call.dataset}`];
  if (known > 0) parts.push(`${known} already there`);
  if (failed.length > 0) parts.push(`${failed.length} failed`);
  if (skipped.length > 0) parts.push(`${skipped.length} passed over`);
  print(call, `${parts.join(', ')} (${seconds.toFixed(1)} s)`);
}

const SKIPPED_SHOWN = 50;

function noteSkipped(call: CommandCall, skipped: readonly SkippedFile[]): void {
  for (const { relativePath, reason } of skipped.slice(0, SKIPPED_SHOWN)) {
    note(call, `passed over: ${harmless(relativePath)} (${reason})`);
  }
  if (skipped.length > SKIPPED_SHOWN) note(call, `and ${skipped.length - SKIPPED_SHOWN} more; --json lists all`);
}

interface FoundFile {
  readonly path: string;
  /** Path from the named folder, with forward slashes. */
  readonly relativePath: string;
  readonly sizeBytes: number;
}

interface SkippedFile {
  readonly relativePath: string;
  readonly reason: 'empty' | 'too large' | 'not a document' | 'symbolic link' | 'unreadable';
}

interface WalkOptions {
  readonly maxBytes: number;
  readonly detect: DocumentLoader['detect'];
}

/** Folders that hold what tools made, not what people wrote. */
const TOOL_FOLDERS = new Set(['node_modules', 'bower_components', '__pycache__', 'venv', 'site-packages']);

/** The documents below a folder in a stable order; hidden files and folders are passed over in silence. */
async function walkFolder(root: string, options: WalkOptions): Promise<{ files: FoundFile[]; skipped: SkippedFile[] }> {
  const files: FoundFile[] = [];
  const skipped: SkippedFile[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = [];
    for await (const entry of await opendir(folder)) if (!entry.name.startsWith('.')) entries.push(entry);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!TOOL_FOLDERS.has(entry.name)) await visit(path);
      } else if (entry.isFile()) {
        const relativePath = relative(root, path).split(sep).join('/');
        const looked = await look(path, entry.name, options);
        if (typeof looked === 'string') skipped.push({ relativePath, reason: looked });
        else files.push({ path, relativePath, sizeBytes: looked });
      } else if (entry.isSymbolicLink()) {
        skipped.push({ relativePath: relative(root, path).split(sep).join('/'), reason: 'symbolic link' });
      }
    }
  };
  await visit(root);
  return { files, skipped };
}

/** The size of a file worth sending, or why it is none. */
async function look(path: string, name: string, options: WalkOptions): Promise<number | SkippedFile['reason']> {
  let handle: Awaited<ReturnType<typeof open>> | null = null;
  try {
    handle = await open(path);
    const { size } = await handle.stat();
    if (size === 0) return 'empty';
    if (size > options.maxBytes) return 'too large';
    const head = Buffer.alloc(Math.min(size, 4_100));
    await handle.read(head, 0, head.length, 0);
    return (await options.detect(name, head)) === null ? 'not a document' : size;
  } catch {
    return 'unreadable';
  } finally {
    await handle?.close();
  }
}
