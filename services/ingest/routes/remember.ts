import { z } from 'zod';
import { billOf, payerOf } from '../../common/domain/budget.ts';
import { unusedModelOptions } from '../../common/domain/unused-options.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type JsonObject, parseClientJson } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, type Reply, type RouteRequest, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, optional, optionalOrBlank } from '../../common/platform/http/schema.ts';
import { warningHeader } from '../../common/platform/http/warning-header.ts';
import { isModelRefusal, runError } from '../../common/platform/jobs/run-error.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { findOntologies, keepOntologies, type StoredOntology } from '../../common/records/ingest/ontologies.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { acceptAddition } from '../items/background-additions.ts';
import { checkCounts } from '../items/item-annotations.ts';
import { IMPORT_MODES, openArchive, rememberArchive } from '../items/remember-archive.ts';
import { rememberData } from '../items/remember-data.ts';
import { addTarget, type DatasetSelection, isSelected, targetDataset } from '../items/target-dataset.ts';
import { presentStoredSkills } from '../presenters/skill.ts';
import {
  presentImported,
  presentRememberedInSession,
  presentRememberResult,
  presentRememberStarted,
} from '../presenters/write-results.ts';
import { rememberInSession } from '../sessions/remember-in-session.ts';
import { rememberSkills } from '../skills/remember-skills.ts';
import { formSources } from '../skills/skill-sources.ts';
import { rememberResult } from './answers.schema.ts';
import { annotationsOf, dataFields, inputsOf, listOf, textOrTexts } from './data-fields.ts';

const bodySchema = z
  .object({
    ...dataFields,
    sessionId: optionalOrBlank(z.string()),
    selfImprovement: optional(lenientBoolean()),
    customPrompt: z.string().nullish(),
    chunkSize: optionalOrBlank(lenientInteger()),
    chunksPerBatch: optionalOrBlank(lenientInteger({ min: 1 })),
    ontologyKey: textOrTexts,
    graphModel: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    contentType: optionalOrBlank(z.string()),
    importMode: optionalOrBlank(z.string()),
    skillsText: z.string().nullish(),
    skillName: z.string().nullish(),
  })
  .meta({
    id: 'Body_remember_api_v1_remember_post',
    examples: [{ raw_data: ['Ada leads the project.'], datasetName: 'notes' }],
  });
type RememberBody = z.output<typeof bodySchema>;

type Annotations = ReturnType<typeof annotationsOf>;

/** A request with what its fields say. */
type Asked = RouteRequest<unknown, unknown, RememberBody> & {
  readonly selection: DatasetSelection;
  readonly inputs: ReturnType<typeof inputsOf>;
  readonly annotations: Annotations;
};

const { routes, post } = routesOf<IngestDependencies>({ tag: 'remember' });

export const rememberRoutes = routes(
  post('/api/v1/remember', 'remember', {
    summary: 'Add data and build the graph from it in one call',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    body: { kind: 'any', schema: bodySchema, files: ['data'], required: false },
    responses: {
      200: {
        description: '`session_stored` with a session, whose entries reach the graph later',
        schema: rememberResult,
      },
      409: { description: 'The run ended with an error; the same body with status `errored`' },
      503: { description: 'Session memory is off; nothing was written' },
    },
    async handle(request, dependencies) {
      const { body, files } = request;
      const selection = { id: body?.datasetId ?? null, name: body?.datasetName ?? null };
      if (!isSelected(selection)) throw badRequest('Either datasetId or datasetName must be provided.');
      const inputs = inputsOf(body, files);
      const annotations = annotationsOf(body);
      checkFields(body, annotations);
      const asked = { ...request, selection, inputs, annotations };
      if (body.contentType === 'skills') return storeSkills(dependencies, asked);
      if (body.contentType === 'cogx-archive') return importArchive(dependencies, asked);
      if (body.contentType !== undefined) {
        throw badRequest(
          `Unsupported content_type '${body.contentType}'. This server takes plain data, 'skills' and 'cogx-archive'.`,
        );
      }
      if (inputs.length === 0) throw badRequest("Provide at least one file in 'data' or one entry in 'raw_data'.");
      checkCounts(annotations, inputs.length);
      const options = optionsOf(body);
      const ontologies = await namedOntologies(dependencies, request.principal, body);
      const { sessionId } = body;
      return sessionId === undefined
        ? addAndBuild(dependencies, asked, options, ontologies)
        : storeInSession(dependencies, asked, sessionId);
    },
  }),
);

/** The order of the checks is the contract's (ingest.md §3.1). */
function checkFields(body: RememberBody, { labels, externalMetadata }: Annotations): void {
  const annotated = labels.length > 0 || externalMetadata.length > 0;
  if (annotated && (body.sessionId !== undefined || body.contentType !== undefined)) {
    throw badRequest(
      "'labels' and 'external_metadata' only work for plain ingestion, without 'session_id' and 'content_type'.",
    );
  }
  if (body.sessionId !== undefined && listOf(body.ontologyKey).some((key) => key !== '')) {
    throw badRequest("'ontology_key' does not go with 'session_id'.");
  }
}

async function storeSkills(dependencies: IngestDependencies, asked: Asked): Promise<Reply> {
  const { principal, body, files, context, selection, inputs } = asked;
  if (inputs.some(({ kind }) => kind === 'string')) throw badRequest("'raw_data' does not go with 'skills'.");
  const sources = await formSources(files, body);
  const stored = await rememberSkills(dependencies, { principal, selection, sources, context });
  return json(presentStoredSkills(stored.dataset, stored.skills, stored.elapsedSeconds));
}

async function importArchive(dependencies: IngestDependencies, asked: Asked): Promise<Reply> {
  const { principal, body, files, context, signal, selection, annotations } = asked;
  const { archive, mode } = await archiveOf(body, files);
  await using _ = archive;
  const given = optionsOf(body);
  const ontologies = await namedOntologies(dependencies, principal, body);
  const dataset = await targetDataset(dependencies.messenger, principal, selection, WRITABLE(context));
  const options = { ...given, ...(await keptOntologies(dependencies, dataset, ontologies)) };
  const build = { options, selfImprovement: body.selfImprovement ?? true };
  const request = { principal, dataset, archive, nodeSets: annotations.nodeSets, build, context, signal };
  const imported = await rememberArchive(dependencies, { ...request, isBackground: body.runInBackground });
  return json(presentImported(imported, mode), imported.outcome?.isErrored === true ? 409 : 200);
}

async function storeInSession(dependencies: IngestDependencies, asked: Asked, session: string): Promise<Reply> {
  const { principal, body, context, selection, inputs, annotations } = asked;
  const remembered = await rememberInSession(dependencies, {
    principal,
    inputs,
    context,
    nodeSets: annotations.nodeSets,
    selection: { ...selection, session },
    selfImprovement: body.selfImprovement ?? true,
  });
  return json(presentRememberedInSession(remembered, session));
}

async function addAndBuild(
  dependencies: IngestDependencies,
  { principal, body, context, signal, selection, inputs, annotations }: Asked,
  given: CognifyOptions,
  ontologies: readonly StoredOntology[],
): Promise<Reply> {
  const target = await addTarget(dependencies.messenger, principal, selection, context);
  await dependencies.budgets.check(billOf(payerOf(principal), { concurrentRuns: 1 }));
  // What the run is asked for, and what is refused later, is kept with the dataset.
  if (ontologies.length > 0 || body.runInBackground) await target.create();
  const { dataset } = target;
  const options = { ...given, ...(await keptOntologies(dependencies, dataset, ontologies)) };
  const { languageModel } = await dependencies.models.current(principal.tenant);
  const warning = warningHeader(unusedModelOptions(options, languageModel !== null));
  const selfImprovement = body.selfImprovement ?? true;
  if (body.runInBackground) {
    const addition = { inputs, annotations, build: { options, selfImprovement } };
    const runId = dependencies.ids.uuid();
    await acceptAddition(dependencies, { runId, principal, dataset, addition, context, signal });
    return { ...json(presentRememberStarted(dataset)), ...warning };
  }
  const request = { ...target, principal, inputs, annotations, options, selfImprovement };
  const outcome = await rememberData(dependencies, { ...request, context, signal });
  const { run } = outcome;
  if (isModelRefusal(run)) throw runError(run);
  return { ...json(presentRememberResult(outcome), outcome.isErrored ? 409 : 200), ...warning };
}

/** Looked up before the dataset: a request that is refused makes none. */
async function namedOntologies({ ontologies }: IngestDependencies, { id }: Principal, body: RememberBody) {
  const keys = listOf(body.ontologyKey).filter((key) => key !== '');
  const found = await findOntologies(ontologies, id, keys);
  if ('problem' in found) throw unusableOntology(found.problem);
  return found.named;
}

async function keptOntologies(dependencies: IngestDependencies, dataset: DatasetRef, named: readonly StoredOntology[]) {
  if (named.length === 0) return {};
  const kept = await keepOntologies(dependencies, scopeOf(dataset), named);
  if ('problem' in kept) throw unusableOntology(kept.problem);
  return { ontologies: kept.files };
}

function unusableOntology(problem: string): HttpError {
  return new HttpError(409, { error: `Invalid request data for remember operation: ${problem}` });
}

const WRITABLE = (context: CallContext) => ({ permission: 'write', createMissing: true, context }) as const;

/** The order of the checks is the contract's (ingest.md §3.1). */
async function archiveOf(body: RememberBody, files: readonly UploadedFile[]) {
  const given = [...listOf(body.data), ...listOf(body.rawData)];
  if (given.some((text) => text.trim() !== '')) throw badRequest("'raw_data' does not go with 'cogx-archive'.");
  if (body.sessionId !== undefined) throw badRequest("'session_id' does not go with 'cogx-archive'.");
  const [file, ...more] = files;
  if (file === undefined) throw badRequest("content_type 'cogx-archive' requires an uploaded archive file.");
  if (more.length > 0) throw badRequest("content_type 'cogx-archive' takes one archive file.");
  const mode = IMPORT_MODES.find((known) => known === (body.importMode ?? 'preserve'));
  if (mode === undefined) {
    const expected = IMPORT_MODES.map((known) => `'${known}'`).join(', ');
    throw badRequest(`Unknown import_mode '${body.importMode}'. Expected one of (${expected}).`);
  }
  return { mode, archive: await openArchive(file) };
}

function badRequest(detail: string): HttpError {
  return new HttpError(400, { detail });
}

function optionsOf(body: RememberBody): CognifyOptions {
  if (body.chunkSize !== undefined && body.chunkSize < 0) {
    throw engramError('InvalidChunkSizeError', `chunk_size must be a positive number of tokens, got ${body.chunkSize}`);
  }
  return {
    graphModel: graphModelOf(body.graphModel),
    ...(body.customPrompt ? { customPrompt: body.customPrompt } : {}),
    chunkSize: body.chunkSize === undefined || body.chunkSize === 0 ? null : body.chunkSize,
    chunksPerBatch: body.chunksPerBatch ?? null,
  };
}

function graphModelOf(value: string | Record<string, unknown> | null | undefined): JsonObject | null {
  if (value === null || value === undefined || value === '') return null;
  const parsed = typeof value === 'string' ? parseModel(value) : value;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw badRequest('graph_model could not be converted: it must be a JSON schema object');
  }
  if (Object.keys(parsed).length === 0) return null;
  const model = parsed as JsonObject;
  if (typeof model['title'] !== 'string')
    throw badRequest('graph_model could not be converted: it needs a top-level title');
  return model;
}

function parseModel(text: string): unknown {
  try {
    return parseClientJson(text);
  } catch (error) {
    throw badRequest(`graph_model is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}
