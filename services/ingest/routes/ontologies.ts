import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { nameConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Route, type UploadedFile } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import { missingField } from '../../common/platform/http/validation-error.ts';
import { MAX_ONTOLOGY_BYTES, ontologyKey, type StoredOntology } from '../../common/records/ingest/ontologies.ts';
import type { IngestDependencies } from '../dependencies.ts';

const path = '/api/v1/ontologies';
const common = { tag: 'ontologies', auth: 'user', permission: ofAccount('ontologies') } as const;

/** Answers carry all of them: limits what a client has to take. */
const MAX_PER_USER = 100;

const uploadBody = z
  .object({ ontology_key: z.string(), description: z.string().nullish() })
  .meta({ id: 'Body_upload_ontology_api_v1_ontologies_post', examples: [{ ontology_key: 'vehicles' }] });

const described = z.object({
  filename: z.string(),
  size_bytes: z.number(),
  uploaded_at: z.string(),
  description: z.string().nullable(),
});
const uploadAnswer = z
  .object({ uploaded_ontologies: z.array(described.extend({ ontology_key: z.string() })) })
  .meta({ id: 'UploadedOntologies' });
const deleteAnswer = z
  .object({ status: z.literal('success'), ontology_key: z.string() })
  .meta({ id: 'DeletedOntology' });

/** Ontologies of the caller (ingest.md §6): files that cognify matches entities with. */
export function ontologyRoutes(deps: IngestDependencies): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path,
      operationId: 'uploadOntology',
      summary: 'Store an ontology (RDF/XML, Turtle) under a key, for cognify and remember',
      body: { kind: 'form', schema: uploadBody, files: ['ontology_file'] },
      responses: {
        200: { description: 'Stored', schema: uploadAnswer },
        400: { description: 'The key is taken or malformed, or the file is no `.owl`' },
        413: { description: 'The file is too large, or there are too many' },
      },
      handle: ({ principal, body, files }) =>
        orFailed(deps, 'upload', async () => {
          const stored = await upload(deps, principal, { ...body, files });
          return json({ uploaded_ontologies: [{ ontology_key: stored.key, ...present(stored) }] });
        }),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path,
      operationId: 'listOntologies',
      summary: 'The ontologies of the caller by key, oldest first',
      responses: { 200: { description: 'By key', schema: z.record(z.string(), described) } },
      handle: ({ principal }) =>
        orFailed(deps, 'list', async () => {
          const stored = await deps.ontologies.ofUser(principal.id);
          return json(Object.fromEntries(stored.map((ontology) => [ontology.key, present(ontology)])));
        }),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: `${path}/:ontologyKey`,
      operationId: 'deleteOntology',
      summary: 'Delete an ontology; graphs that were built with it stay as they are',
      params: z.object({ ontology_key: z.string() }),
      responses: {
        200: { description: 'Deleted', schema: deleteAnswer },
        400: { description: 'There is no such key' },
      },
      handle: ({ principal, params }) =>
        orFailed(deps, 'delete', async () =>
          json({ status: 'success', ontology_key: await remove(deps, principal, params.ontology_key) }),
        ),
    }),
  ];
}

interface Upload {
  readonly ontology_key: string;
  readonly description?: string | null | undefined;
  readonly files: readonly UploadedFile[];
}

async function upload(
  { ontologies, audit, users, clock, ids }: IngestDependencies,
  { id: userId }: Principal,
  { ontology_key: given, description, files }: Upload,
): Promise<Omit<StoredOntology, 'version'>> {
  const [file, ...more] = files.filter(({ field }) => field === 'ontology_file');
  if (file === undefined) throw missingField('ontology_file', { ontology_key: given });
  if (more.length > 0) throw refused('Only one ontology_file is allowed');
  if (/^\s*[[{]/u.test(given)) throw refused('ontology_key must be a string');
  if (/^\s*[[{]/u.test(description ?? '')) throw refused('description must be a string');
  const key = ontologyKey(given);
  if (key === null || !/\.owl$/iu.test(file.fileName)) throw refused('Invalid ontology request.');
  if (file.sizeBytes > MAX_ONTOLOGY_BYTES) {
    const limit = MAX_ONTOLOGY_BYTES / 1024 / 1024;
    throw engramError('PayloadTooLargeError', `An ontology may have ${limit} MiB at most.`);
  }
  const own = await ontologies.ofUser(userId);
  if (own.some((ontology) => ontology.key === key)) throw refused('Ontology key already exists.');
  if (own.length >= MAX_PER_USER) {
    throw engramError('PayloadTooLargeError', `There may be ${MAX_PER_USER} ontologies at most: delete one first.`);
  }
  const ontology = {
    id: ids.uuid(),
    userId,
    key,
    fileName: file.fileName,
    sizeBytes: file.sizeBytes,
    sha256: file.sha256,
    description: description || null,
    uploadedAt: clock.now().toISOString(),
  };
  const entry = {
    tenant: PERSONAL_TENANT,
    action: 'ontology.stored',
    actor: userId,
    subject: ontology.id,
    details: { key },
  };
  const writes = await ontologies.insertWrites(ontology, await buffer(file.open()));
  await nameConflict(audit.commit({ tenant: PERSONAL_TENANT }, writes, [entry]), {
    duplicate: () => refused('Ontology key already exists.'),
  });
  // The account may have been deleted meanwhile, with what it had then.
  if ((await users.get(userId))?.isActive !== true) {
    await audit.commit({ tenant: PERSONAL_TENANT }, ontologies.removeWrites(ontology), [
      { ...entry, action: 'ontology.deleted' },
    ]);
    throw engramError('UserNotFoundError', 'User not found.');
  }
  return ontology;
}

async function remove({ ontologies, audit }: IngestDependencies, { id: userId }: Principal, given: string) {
  const key = ontologyKey(given);
  const ontology = key === null ? null : await ontologies.find(userId, key);
  const unknown = 'Ontology key not found or invalid.';
  if (ontology === null) throw refused(unknown);
  const details = { key: ontology.key };
  const entry = { tenant: PERSONAL_TENANT, action: 'ontology.deleted', actor: userId, subject: ontology.id, details };
  await nameConflict(audit.commit({ tenant: PERSONAL_TENANT }, ontologies.removeWrites(ontology), [entry]), {
    changed: () => refused(unknown),
  });
  return ontology.key;
}

function refused(error: string): HttpError {
  return new HttpError(400, { error });
}

function present({ fileName, sizeBytes, uploadedAt, description }: Omit<StoredOntology, 'version'>) {
  return {
    filename: fileName,
    size_bytes: sizeBytes,
    uploaded_at: uploadedAt.replace('Z', '+00:00'),
    description,
  };
}

/** Any other failure has one text for each route. */
async function orFailed<Result>(
  { logger }: IngestDependencies,
  step: 'upload' | 'list' | 'delete',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isKnown =
      isEngramError(error) || error instanceof HttpError || (error as Error).name === 'RequestValidationError';
    if (isKnown) throw error;
    logger.error('ingest.ontology.failed', { step, error });
    throw new HttpError(500, { error: `Ontology ${step} failed.` }, { cause: error });
  }
}
