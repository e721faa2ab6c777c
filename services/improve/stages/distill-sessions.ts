import { payerOf } from '../../common/domain/budget.ts';
import type { RunState } from '../../common/domain/run.ts';
import { type SessionKey, sessionDocumentId } from '../../common/domain/session.ts';
import { type NewContextRow, normalisedContent } from '../../common/domain/session-context.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { ActiveModels, ModelSource } from '../../common/ports/active-models.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { DocumentWriter } from '../../common/storage/ports/document-store.ts';
import type { ImproveSettings } from '../dependencies.ts';
import type { Candidate } from '../learning/candidates.ts';
import { type Distilled, distilByModel, type Lesson } from '../learning/distil-by-model.ts';
import {
  isKnown,
  type KnownLessonsDependencies,
  LEARNINGS_NODE_SET,
  lessonDocument,
  sameStatements,
  similarLessons,
  standsInMemory,
} from '../learning/known-lessons.ts';
import { type MaterialDependencies, materialOf, type SessionMaterial } from '../learning/session-material.ts';
import type { ImprovePass, Stage } from '../model.ts';
import { eachSession, outcomeOf, sessionScope } from '../pass-sessions.ts';
import type { PersistedDocument } from './keep-documents.ts';

export interface DistillSessionsDependencies extends MaterialDependencies, KnownLessonsDependencies {
  readonly store: DocumentWriter;
  readonly contexts: SessionContexts;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly models: ModelSource;
  readonly logger: Logger;
  readonly settings: ImproveSettings;
  /** Adds the texts as items of the dataset and cognifies them. The same key is the same item. */
  keepDocuments(pass: ImprovePass, documents: readonly PersistedDocument[]): Promise<RunState>;
}

const NAME = 'distill_sessions';
/** Documents of one message and one run. */
const DOCUMENTS_AT_ONCE = 200;

/**
 * Stage 5 (cognify-improve.md §3.10): persists the lasting statements of sessions as one document each. Without a model they
 * are found by rules and grouped by their words; with one, a curator and a writer judge them.
 */
export function createDistillSessions(deps: DistillSessionsDependencies): Stage {
  return {
    name: NAME,
    gate: async () => null,
    async run(pass) {
      const models = await deps.models.current(pass.principal.tenant);
      const counts = { documents: 0, sessions_completed: 0, entries_uncurated: 0 };
      let isUnchanged = true;
      const failures = await eachSession({ logger: deps.logger, stage: NAME }, pass, async (key) => {
        const distilled = await distil(deps, pass, { key, models });
        if (distilled === null) return;
        isUnchanged = false;
        const { documents, uncurated, failed } = distilled;
        counts.documents += documents;
        counts.entries_uncurated += uncurated;
        if (failed > 0) throw callsFailed(failed);
        if (documents > 0) counts.sessions_completed += 1;
      });
      const { documents, sessions_completed, entries_uncurated } = counts;
      const reported = { documents, sessions_completed, sessions_failed: failures.count, entries_uncurated };
      return { ...outcomeOf(failures, reported), isUnchanged: isUnchanged && failures.count === 0 };
    },
  };
}

interface SessionResult {
  readonly documents: number;
  readonly uncurated: number;
  /** Model calls that failed. */
  readonly failed: number;
}

/** Distils a session; null when nothing in it is new. */
async function distil(
  deps: DistillSessionsDependencies,
  pass: ImprovePass,
  { key, models }: { readonly key: SessionKey; readonly models: ActiveModels },
): Promise<SessionResult | null> {
  const { languageModel, extractor } = models;
  const { principal, signal } = pass;
  const payer = payerOf(principal);
  const context: ModelCallContext = { scope: { tenant: principal.tenant }, purpose: 'extraction', payer, signal };
  // With a language model no extractor is used: it would be called for each turn, which the curator reads anyway.
  const reading = { extractor: languageModel === null ? extractor : null, context, byModel: languageModel !== null };
  const material = await materialOf(deps, pass, key, reading);
  if (material === null) return null;
  const scope = scopeOf(pass.dataset);
  const maxBatches = deps.settings.distillMaxBatches;
  const distilled =
    languageModel === null
      ? byRules(material)
      : await distilByModel(languageModel, material, { deps, scope, maxBatches, context });
  const fresh = await unknownOf(deps, pass, distilled.lessons);
  signal.throwIfAborted();
  await publish(deps, pass, material, fresh);
  const guiding = await addGuidance(deps, pass, key, material);
  await seal(deps, pass, material, { distilled, guiding });
  return { documents: fresh.length, uncurated: distilled.uncurated, failed: distilled.failed.length };
}

/** Makes one lesson of candidates that say the same, in the words of the most confident one. */
function byRules({ candidates }: SessionMaterial): Distilled {
  const lessons = sameStatements(candidates).flatMap((members): readonly Lesson[] => {
    const [first] = members.toSorted((left, right) => right.confidence - left.confidence);
    return first === undefined ? [] : [{ statement: first.text, why: first.why, members }];
  });
  return { lessons, sealed: candidates, uncurated: 0, failed: [] };
}

/** Returns the lessons that neither the dataset nor another lesson of the list states. */
async function unknownOf(deps: DistillSessionsDependencies, pass: ImprovePass, lessons: readonly Lesson[]) {
  const distinct = sameStatements(lessons.map((lesson) => ({ text: lesson.statement, lesson })));
  const fresh: Lesson[] = [];
  for (const [first] of distinct) {
    if (first === undefined) continue;
    pass.signal.throwIfAborted();
    const scope = scopeOf(pass.dataset);
    if (isKnown(first.text, await similarLessons(deps, scope, first.text))) continue;
    if (!(await standsInMemory(deps, scope, first.text))) fresh.push(first.lesson);
  }
  return fresh;
}

/** Context section that a statement of a turn is added to, by its origin. */
const GUIDES: ReadonlyMap<string, 'rules' | 'preferences'> = new Map(
  Object.entries<'rules' | 'preferences'>({ rule: 'rules', preference: 'preferences' }),
);

/** Adds rules and preferences of the user to the context of the session. Returns the ids of the rows. */
async function addGuidance(
  { contexts, ids, clock }: DistillSessionsDependencies,
  pass: ImprovePass,
  key: SessionKey,
  { candidates }: SessionMaterial,
): Promise<readonly string[]> {
  const rows = candidates.flatMap(({ row, origin, text: content, confidence }): readonly NewContextRow[] => {
    const section = row === null ? GUIDES.get(origin) : undefined;
    return section === undefined ? [] : [{ profile: 'qa', section, content, confidence }];
  });
  if (rows.length === 0) return [];
  return contexts.learn(sessionScope(pass), key, rows, { newId: () => ids.uuid(), at: clock.now().toISOString() });
}

async function publish(
  deps: DistillSessionsDependencies,
  pass: ImprovePass,
  { session }: SessionMaterial,
  lessons: readonly Lesson[],
): Promise<void> {
  const nodeSets = [LEARNINGS_NODE_SET, `${LEARNINGS_NODE_SET}:${session.session}`, ...(session.nodeSets ?? [])];
  const documents = lessons.map((lesson): PersistedDocument => {
    const print = sha256(normalisedContent(lesson.statement));
    return {
      key: `lesson/${sessionDocumentId(session)}/${print}`,
      name: `session_learning_${print.slice(0, 12)}`,
      text: lessonDocument(session.session, lesson),
      nodeSets: [...new Set(nodeSets)],
    };
  });
  for (const slice of slices(documents, DOCUMENTS_AT_ONCE)) {
    const run = await deps.keepDocuments(pass, slice);
    if (run.status === 'DATASET_PROCESSING_ERRORED') throw runFailed(run);
  }
}

/**
 * Records what was distilled, after the lessons are durable. Where model calls failed, the turns from the first one that was
 * not read stay open, and the candidates of them that were read are recorded by id.
 */
async function seal(
  deps: DistillSessionsDependencies,
  pass: ImprovePass,
  { session, before, turnOf, candidates }: SessionMaterial,
  { distilled: { sealed }, guiding }: { readonly distilled: Distilled; readonly guiding: readonly string[] },
): Promise<void> {
  const ids = new Set(sealed.map(({ id }) => id));
  const open = candidates.filter(({ id }) => !ids.has(id));
  const openTurns = open.flatMap(({ id }) => turnOf.get(id) ?? []);
  const isOpen = openTurns.length > 0;
  const firstOpen = Math.min(...openTurns.filter((turn) => turn > before.turns));
  const kept = sealed.filter((candidate) => candidate.row !== null || isOpen);
  const known = isOpen ? before.rows : before.rows.filter((id) => !isTurnCandidate(id));
  const write = deps.distillations.write(session, {
    version: before.version,
    turns: Math.min(session.qaCount, firstOpen - 1),
    feedback: isOpen ? before.feedback : session.feedbackCount,
    // Includes the rows made from turns, which were read already.
    rows: [...known, ...kept.map(({ id }) => id), ...guiding],
  });
  await deps.store.commit(scopeOf(pass.dataset), [write]);
}

function isTurnCandidate(id: Candidate['id']): boolean {
  return id.includes('/');
}

function callsFailed(failed: number) {
  return engramError('CogneeSystemError', `${failed} model call(s) of the distillation failed.`);
}

function runFailed({ errorClass, errorMessage }: RunState) {
  const isBudget = errorClass === 'LLMPaymentRequiredError';
  const message = errorMessage ?? 'The lessons could not be cognified.';
  return engramError(isBudget ? 'LLMPaymentRequiredError' : 'CogneeSystemError', message);
}
