import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { append } from '../../common/kernel/long-lists.ts';
import { type DatasetScope, PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import { workerTask } from '../../common/platform/workers/worker-messages.ts';
import { WorkerFailure, type WorkerPool } from '../../common/platform/workers/worker-pool.ts';
import type { Logger } from '../../common/ports/logger.ts';
import { type OntologyFile, ontologyBlob } from '../../common/records/ingest/ontologies.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import {
  createOntology,
  type Ontology,
  type OntologyEdge,
  type OntologyPart,
  type OntologyTerm,
  type UnreadableFile,
} from '../../common/text/ontology/ontology.ts';
import type { ActiveRun } from '../model.ts';
import type { CognifySettings } from '../settings.ts';
import type { AppliedOntology } from './apply-ontology.ts';

const MODULE = new URL('../../common/text/ontology/read-ontology.ts', import.meta.url);
const READ = workerTask<typeof import('../../common/text/ontology/read-ontology.ts'), 'readOntology'>(
  MODULE,
  'readOntology',
);

/** The blobs of the server's own ontologies. */
const SERVER_ONTOLOGY_SCOPE = { tenant: PERSONAL_TENANT };

/** Stores the ontologies of the configuration, so that a run reads what it began with whatever becomes of the files. */
export async function keepServerOntologies(
  blobs: BlobStore,
  paths: readonly string[],
): Promise<readonly OntologyFile[]> {
  return Promise.all(
    paths.map(async (path) => {
      const content = await readFile(path).catch((cause: unknown) => {
        throw new Error(`ONTOLOGY_FILE_PATH names '${path}', which cannot be read.`, { cause });
      });
      const file = { sha256: sha256(content), name: basename(path) };
      await blobs.put(SERVER_ONTOLOGY_SCOPE, ontologyBlob(file), content);
      return file;
    }),
  );
}

export interface OntologyLoaderDependencies {
  readonly blobs: BlobStore;
  readonly textWorkers: WorkerPool;
  readonly settings: CognifySettings;
  readonly logger: Logger;
}

interface LoadedOntology {
  /** Null: the run has none. */
  readonly ontology: AppliedOntology | null;
  /** Why the ontologies that the request names have no effect, or some of them. */
  readonly warning: string | null;
}

interface ReadFiles {
  readonly ontology: Ontology;
  readonly unreadable: readonly UnreadableFile[];
}

export type OntologyLoader = ReturnType<typeof createOntologyLoader>;

/** Reads the ontologies of runs. Keeps the last one: runs that follow one another mostly have the same. */
export function createOntologyLoader({ blobs, textWorkers, settings, logger }: OntologyLoaderDependencies) {
  let last: { readonly key: string; readonly files: ReadFiles } | null = null;

  const read = async (scope: DatasetScope, files: readonly OntologyFile[], signal: AbortSignal): Promise<ReadFiles> => {
    const contents = await Promise.all(files.map((file) => contentOf(blobs, scope, file)));
    const terms: OntologyTerm[] = [];
    const edges: OntologyEdge[] = [];
    const onPart = (part: OntologyPart): void => {
      if ('terms' in part) append(terms, part.terms);
      else append(edges, part.edges);
    };
    const input = { files: files.map(({ name }, index) => ({ name, sizeBytes: contents[index]?.length ?? 0 })) };
    try {
      const unreadable = await textWorkers.run(READ, input, { content: Buffer.concat(contents), onPart, signal });
      return { ontology: createOntology(terms, edges), unreadable };
    } catch (cause) {
      if (!(cause instanceof WorkerFailure)) throw cause;
      if (cause.reason === 'closed') throw engramError('CancelledError', 'The server is stopping.', { cause });
      const names = files.map(({ name }) => `'${name}'`).join(', ');
      throw engramError('OntologyInitializationError', `The ontology ${names} cannot be read: ${cause.message}.`, {
        cause,
      });
    }
  };

  return {
    /**
     * Errors: `OntologyInitializationError` when a file is gone or exceeds a limit of the workers,
     * `EmptyOntologyInStrictModeError`.
     */
    async load(run: ActiveRun, hasModel: boolean): Promise<LoadedOntology> {
      const { ontologies, graphModel } = run.options as CognifyOptions;
      if (!ontologies?.length) return { ontology: null, warning: null };
      if (graphModel && hasModel) {
        return { ontology: null, warning: 'ontology_key has no effect together with graph_model.' };
      }
      const key = JSON.stringify(ontologies);
      if (last?.key !== key) last = { key, files: await read(run.scope, ontologies, run.signal) };
      const { ontology, unreadable } = last.files;
      for (const { name, reason } of unreadable)
        logger.warn('cognify.ontology.unreadable', { runId: run.id, name, reason });
      const mode = settings.ontologyMode;
      const warning = warningOf(ontologies, last.files);
      if (ontology.isEmpty && mode === 'strict') {
        throw engramError(
          'EmptyOntologyInStrictModeError',
          `${warning} Nothing would be left in the graph (ONTOLOGY_MODE=strict).`,
        );
      }
      return { ontology: { ontology, mode }, warning };
    },
  };
}

function warningOf(files: readonly OntologyFile[], { ontology, unreadable }: ReadFiles): string | null {
  const [first] = unreadable;
  if (first !== undefined)
    return `The ontology '${first.name}' has no effect, because it cannot be read: ${first.reason}.`;
  const names = files.map(({ name }) => `'${name}'`).join(', ');
  return ontology.isEmpty
    ? `The ontology ${names} has no effect: it names no classes (owl:Class) and no individuals.`
    : null;
}

/** What users uploaded is beside the items of the dataset, what the configuration names is the server's. */
async function contentOf(blobs: BlobStore, scope: DatasetScope, file: OntologyFile): Promise<Buffer> {
  for (const place of [scope, SERVER_ONTOLOGY_SCOPE]) {
    const content = await blobs.get(place, ontologyBlob(file));
    if (content !== null) return buffer(content);
  }
  throw engramError('OntologyInitializationError', `The file '${file.name}' of the ontology is missing.`);
}
