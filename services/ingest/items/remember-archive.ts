import { billOf, payerOf } from '../../common/domain/budget.ts';
import { importedMetadata } from '../../common/domain/item-time.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { createContentDigest } from '../../common/kernel/hashes.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { type CogxArchive, type CogxDocument, readCogx } from '../../common/text/archives/cogx.ts';
import { InvalidArchive, tarMembers } from '../../common/text/archives/members.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { acceptAddition } from './background-additions.ts';
import type { Input } from './input-source.ts';
import type { RefusedInput } from './refused-input.ts';
import { type BuildRequest, type RememberOutcome, rememberData } from './remember-data.ts';

/** Modes that a client may ask for. The graph is built from the texts in each of them. */
export const IMPORT_MODES = ['re-derive', 'preserve', 'hybrid'] as const;
export type ImportMode = (typeof IMPORT_MODES)[number];

export interface ImportedArchive {
  readonly archive: CogxArchive;
  readonly dataset: DatasetRef;
  readonly runId: string;
  /** Null: it goes on in the background. */
  readonly outcome: RememberOutcome | null;
  readonly refused: readonly RefusedInput[];
}

/** The same limit as for files of a form. */
const MAX_DOCUMENTS = 10_000;

/** Reads an uploaded COGX archive; to be disposed. Errors: 400 as the contract has it, with the reason. */
export async function openArchive(file: UploadedFile): Promise<CogxArchive> {
  try {
    const archive = await readCogx(tarMembers(file.open()), { maxDocuments: MAX_DOCUMENTS });
    const [first] = archive.documents.length === 0 ? archive.refused : [];
    if (first === undefined) return archive;
    await archive[Symbol.asyncDispose]();
    throw new InvalidArchive(`None of its documents can be read. ${first.name}: ${first.reason}`);
  } catch (error) {
    if (!(error instanceof InvalidArchive)) throw error;
    throw new HttpError(400, { error: `Invalid COGX archive. ${error.message}` }, { cause: error });
  }
}

/** Adds the documents of an archive in one commit and builds the graph. What is there already is not added again. */
export async function rememberArchive(
  dependencies: IngestDependencies,
  request: {
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly archive: CogxArchive;
    readonly nodeSets: readonly string[];
    readonly build: BuildRequest;
    readonly context: CallContext;
    readonly signal: AbortSignal;
    readonly isBackground: boolean;
  },
): Promise<ImportedArchive> {
  const { principal, dataset, archive, nodeSets, build, context, signal } = request;
  const inputs: Input[] = [];
  for (const document of archive.documents) inputs.push(await inputOf(document));
  const externalMetadata = archive.documents.map(({ id, metadata, createdAt }) =>
    importedMetadata(metadata, { origin: `${archive.sourceSystem}:${id}`, writtenAt: createdAt }),
  );
  const annotations = { labels: [], externalMetadata, nodeSets };
  const refused = archive.refused.map(({ name, reason }, at) => ({
    index: inputs.length + at,
    name,
    error: engramError('UnreadableFileContentError', reason),
  }));
  if (request.isBackground) {
    const runId = dependencies.ids.uuid();
    await dependencies.budgets.check(billOf(payerOf(principal), { concurrentRuns: 1 }));
    const addition = { inputs, annotations, build };
    await acceptAddition(dependencies, { runId, principal, dataset, addition, context, signal });
    return { archive, dataset, runId, outcome: null, refused };
  }
  const add = { principal, dataset, inputs, annotations, context, signal };
  const outcome = await rememberData(dependencies, { ...add, ...build });
  return { archive, dataset, runId: outcome.run.id, outcome, refused: [...outcome.refused, ...refused] };
}

/** Contents of another memory, which no user of this one has stated. */
async function inputOf(document: CogxDocument): Promise<Input> {
  const digest = createContentDigest();
  for await (const chunk of document.open()) digest.add(chunk as Buffer);
  const facts = digest.result();
  const fileName = document.fileName ?? `text_${facts.md5}.txt`;
  const file = { field: 'data', fileName, mimeType: 'text/plain', ...facts, open: () => document.open() };
  return { kind: 'upload', file, isCopy: true, nodeSets: document.nodeSets };
}
