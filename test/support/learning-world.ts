import { randomUUID } from 'node:crypto';
import { collections } from '../../services/app/collections.ts';
import type { RunState } from '../../services/common/domain/run.ts';
import { NO_RESULT } from '../../services/common/domain/run.ts';
import type { NewQa, NewTrace, QaEntry, SessionKey, TraceEntry } from '../../services/common/domain/session.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { createLanguageModel } from '../../services/common/models/providers/language-model.ts';
import type { SessionNote } from '../../services/common/platform/messaging/messages.ts';
import type { ActiveModels } from '../../services/common/ports/active-models.ts';
import { createDistillations, type Distillations } from '../../services/common/records/improve/distillations.ts';
import { createPreferences, type Preferences } from '../../services/common/records/improve/preferences.ts';
import { createSessionContexts, type SessionContexts } from '../../services/common/records/sessions/session-context.ts';
import { createSessionEntries, type SessionEntries } from '../../services/common/records/sessions/session-entries.ts';
import { createSessions, type Sessions } from '../../services/common/records/sessions/sessions.ts';
import { DEFAULT_IMPROVE_SETTINGS, type ImproveSettings } from '../../services/improve/dependencies.ts';
import { createPassReads, defaultOptions, type ImprovePass, type Stage } from '../../services/improve/model.ts';
import {
  createDistillSessions,
  type DistillSessionsDependencies,
} from '../../services/improve/stages/distill-sessions.ts';
import { createExtractAgentContext } from '../../services/improve/stages/extract-agent-context.ts';
import type { PersistedDocument } from '../../services/improve/stages/keep-documents.ts';
import { createUpdateUserPreferences } from '../../services/improve/stages/update-user-preferences.ts';
import { completion, type ModelProvider, type ProviderAnswer, startModelProvider } from './model-provider.ts';
import { createRulesExtractor } from './rules-extractor.ts';
import { createSearchWorld, OWNER, type SearchWorld } from './search-world.ts';
import { PLAIN_QA, PLAIN_TRACE } from './session-entries.ts';

/** The stages that learn, over a dataset whose lessons are indexed as cognify would. */
export interface LearningWorld extends AsyncDisposable {
  readonly search: SearchWorld;
  readonly dataset: DatasetRef;
  readonly scope: { readonly tenant: typeof OWNER.tenant };
  readonly key: SessionKey;
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
  readonly preferences: Preferences;
  readonly distillations: Distillations;
  /** Documents that were kept, each key once. */
  readonly kept: Map<string, PersistedDocument>;
  /** Called before documents are kept; throw to fail. */
  beforeKeeping: () => void;
  /** Called before notes are written; throw to fail. */
  beforeNoting: () => void;
  /** The provider of a started model. */
  provider: ModelProvider | null;
  ask(question: string, more?: Partial<NewQa>, key?: SessionKey): Promise<QaEntry>;
  step(originFunction: string, more?: Partial<NewTrace>, key?: SessionKey): Promise<TraceEntry>;
  rate(entry: QaEntry, score: number | null, text?: string, key?: SessionKey): Promise<void>;
  qa(entry: QaEntry, key?: SessionKey): Promise<QaEntry | null>;
  /** Answers of a configured model by the name of the requested schema; a value is sent as JSON. */
  startModel(answer: (schema: string, prompt: string) => unknown): Promise<ModelProvider>;
  stages(settings?: Partial<ImproveSettings>): { readonly [Name in 'context' | 'distil' | 'preferences']: Stage };
  pass(...keys: readonly SessionKey[]): ImprovePass;
}

const SECOND = 1000;

export async function createLearningWorld(): Promise<LearningWorld> {
  const search = await createSearchWorld();
  const { store } = search;
  await store.prepare([...collections]);
  const sessions = createSessions(store);
  const entries = createSessionEntries(store, sessions);
  const [contexts, preferences, distillations] = [
    createSessionContexts(store),
    createPreferences(store),
    createDistillations(store),
  ];
  const dataset = search.dataset('notes');
  const scope = { tenant: OWNER.tenant };
  let now = Date.UTC(2026, 0, 2, 3, 4, 5);
  const tick = () => {
    now += SECOND;
    return new Date(now);
  };
  const change = () => ({ lastActivityAt: tick().toISOString() });
  let languageModel: ActiveModels['languageModel'] = null;
  const models = {
    current: async () => ({ languageModel, missingModelKey: null, extractor: createRulesExtractor() }),
  };
  const silent = () => {};
  const logger = { debug: silent, info: silent, warn: silent, error: silent };
  const own: SessionKey = { user: OWNER.id, session: 's1' };
  const world: LearningWorld = {
    search,
    dataset,
    scope,
    key: own,
    sessions,
    entries,
    contexts,
    preferences,
    distillations,
    kept: new Map(),
    beforeKeeping: silent,
    beforeNoting: silent,
    provider: null,
    ask: (question, more = {}, key = own) =>
      entries.appendQa(scope, key, randomUUID(), { ...PLAIN_QA, question, ...more }, change()),
    step: (originFunction, more = {}, key = own) =>
      entries.appendTrace(scope, key, randomUUID(), { ...PLAIN_TRACE, originFunction, ...more }, change()),
    async rate(entry, score, text, key = own) {
      await entries.giveFeedback(scope, key, entry.id, { score, text: text ?? null, at: tick().toISOString() });
    },
    qa: (entry, key = own) => entries.qa(scope, key, entry.id),
    async startModel(answer) {
      const provider = await startModelProvider(({ schema, prompt }) => answered(answer(schema, prompt)));
      world.provider = provider;
      languageModel = createLanguageModel({
        provider: 'openai',
        model: 'openai/test',
        endpoint: `${provider.url}/v1`,
        apiKey: 'k',
        retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1, maxAskedDelayMs: 1 },
        meter: { admit: async () => ({ record: async () => {}, release: async () => {} }) },
      });
      return provider;
    },
    stages(changed = {}) {
      const settings = { ...DEFAULT_IMPROVE_SETTINGS, ...changed };
      const deps = { store, sessions, entries, contexts, models, logger, settings, indexes: search.indexes };
      const clock = { now: tick, monotonicMs: () => now };
      const ids = { uuid: () => randomUUID(), ordered: () => randomUUID() };
      return {
        context: createExtractAgentContext({ ...deps, clock, ids }),
        distil: createDistillSessions({
          ...deps,
          distillations,
          ledger: search.ledger,
          clock,
          ids,
          keepDocuments: keeping(world),
        }),
        preferences: createUpdateUserPreferences({ ...deps, preferences, noteOnSession: noting(world) }),
      };
    },
    pass: (...keys) => ({
      dataset,
      sessions: keys.length === 0 ? [own] : keys,
      options: defaultOptions(0.1),
      principal: OWNER,
      context: { requestId: 'test', principal: OWNER },
      leaseToken: 'test/0',
      signal: new AbortController().signal,
      reads: createPassReads(),
      idleRuns: [],
    }),
    async [Symbol.asyncDispose]() {
      await world.provider?.close();
    },
  };
  return world;
}

/** A status and a body are sent unchanged. */
function answered(value: unknown): ProviderAnswer {
  const isAnswer = typeof value === 'object' && value !== null && 'status' in value;
  return isAnswer ? (value as ProviderAnswer) : completion(JSON.stringify(value));
}

function keeping(world: LearningWorld): DistillSessionsDependencies['keepDocuments'] {
  return async (_pass, documents) => {
    world.beforeKeeping();
    const fresh = documents.filter(({ key }) => !world.kept.has(key));
    for (const document of fresh) world.kept.set(document.key, document);
    await world.search.fill(
      world.dataset,
      fresh.map(({ name, text, nodeSets }) => ({ title: name, text, nodeSets })),
    );
    return COMPLETED;
  };
}

function noting(world: LearningWorld) {
  return async (_pass: ImprovePass, key: SessionKey, notes: readonly SessionNote[]) => {
    world.beforeNoting();
    const own = notes.map(({ qaId, ...note }) => ({ id: qaId, ...note }));
    await world.entries.note(world.scope, key, own);
  };
}

const COMPLETED: RunState = {
  id: asId('00000000-0000-4000-8000-00000000aaaa'),
  pipeline: 'cognify_pipeline',
  dataset: asId('00000000-0000-4000-8000-00000000bbbb'),
  datasetName: 'notes',
  status: 'DATASET_PROCESSING_COMPLETED',
  ...NO_RESULT,
  startedAt: '2026-01-02T03:04:05.000Z',
  endedAt: '2026-01-02T03:04:06.000Z',
};
