import { createConcurrencyLimit } from '../common/platform/async/concurrency-limit.ts';
import { once } from '../common/platform/async/once.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import { EVERY_TENANT } from '../common/platform/messaging/messages.ts';
import { onlyEmbedder } from '../common/ports/embedders.ts';
import { createUsers } from '../common/records/auth/users.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import { createVectorIndexVersions } from '../common/records/cognify/vector-index-versions.ts';
import { createEchoMarks } from '../common/records/ingest/echo-marks.ts';
import { createSkills } from '../common/records/ingest/skills.ts';
import { createSourceAccess } from '../common/records/integrations/source-access.ts';
import { createDatasetCopyLeases } from '../common/records/search/dataset-copies.ts';
import { createSearchHistory } from '../common/records/search/search-history.ts';
import { createSessionContexts } from '../common/records/sessions/session-context.ts';
import { createSessionEntries } from '../common/records/sessions/session-entries.ts';
import { createSessions } from '../common/records/sessions/sessions.ts';
import { createVisibleSessions } from '../common/records/sessions/visible-sessions.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { answerQuestion } from './answer-question.ts';
import { type KnowledgeReader, knowledgeAround } from './answers/knowledge.ts';
import { createRecentlyShown } from './answers/mark-shown.ts';
import { type QuoteReader, quotesFrom } from './answers/quotes.ts';
import type { SessionReaders } from './conversation/conversation.ts';
import { createSessionWriter, createTurnRecorder } from './conversation/turn-recorder.ts';
import { createDatasetCopies, type DatasetCopiesOptions } from './dataset-copies.ts';
import type { SearchParts, SearchServiceOptions } from './dependencies.ts';
import { eraseAnswers, eraseSearched } from './history.ts';
import { lookFor } from './look-for.ts';
import { createReadiness } from './recall/readiness.ts';
import { createLearnedElements } from './retrieval/learned-weights.ts';
import { limitRetrievals, type Retriever } from './retrieval/retrieval.ts';
import { liveEventRoutes, viewSocket } from './routes/live-events.ts';
import { recallRoutes } from './routes/recall.ts';
import { responseRoutes } from './routes/responses.ts';
import { schemaRoutes } from './routes/schema.ts';
import { searchRoutes } from './routes/search.ts';
import { visualizeRoutes } from './routes/visualize.ts';
import { createThreadKnowledge, createThreadQuotes, createThreadRetriever, type PreparedAnswers } from './threads.ts';
import { createCodeGraphs } from './types/code/code-graph.ts';
import { createSkillIndex } from './types/skill-index.ts';
import { createSourceUsers } from './types/source-users.ts';

/** Creates the search service: search, recall, their history and graph views. See README.md. */
export function createSearchService(options: SearchServiceOptions): Service {
  const { ids, ...rest } = options;
  const limit = options.settings.concurrentSearches;
  const vectorVersions = createVectorIndexVersions({ ...options, vectors: options.indexes.vectors });
  const { indexes } = options;
  const learned = createLearnedElements(options.store, options.clock);
  const { threads } = options;
  const known: PreparedAnswers = new WeakMap();
  const retriever = once(async () => {
    if (threads) return createThreadRetriever(threads, { ledger: options.ledger, learned }, known);
    return (await import('./tasks.ts')).createPassageRetriever(options);
  });
  const retrieve: Retriever['retrieve'] = async (request) => (await retriever()).retrieve(request);
  const supersessions = createSupersessions(options.store);
  const users = createUsers(options.store);
  const knowledge: KnowledgeReader = (...input) => knowledgeAround({ indexes, supersessions }, ...input);
  const quotes: QuoteReader = (...input) => quotesFrom({ indexes }, ...input);
  const limited = limitRetrievals({ retrieve }, limit);
  const copies = createCopies({ ...options, supersessions, vectorVersions });
  const deps: SearchParts = {
    ...rest,
    vectorVersions,
    indexes,
    embedders: options.embedders ?? onlyEmbedder(options.embedder),
    sessions: sessionReaders(options.store),
    turns: createTurnRecorder(createSessionWriter(options.messenger, ids), options.logger),
    retriever: limited,
    supersessions,
    knowledge: threads ? createThreadKnowledge(threads, knowledge, known) : knowledge,
    quotes: threads ? createThreadQuotes(quotes, known) : quotes,
    echoes: createEchoMarks(options.store),
    recentlyShown: createRecentlyShown(options.clock),
    learned,
    sourceUsers: createSourceUsers(users, options.clock),
    skills: createSkillIndex(createSkills(options.store)),
    codeGraphs: createCodeGraphs(indexes.graph, options.ledger),
    limitSearches: createConcurrencyLimit(limit),
    history: createSearchHistory(options.store, ids),
    readiness: createReadiness(options),
    sourceAccess: createSourceAccess(options.store),
    async here(datasets) {
      const here = (await copies?.of(datasets)) ?? null;
      if (here === null) return null;
      return {
        ...here,
        ledger: { ...options.ledger, ...here.ledger, asked: null },
        retriever: { retrieve: (request) => limited.retrieve({ ...request, here }) },
        knowledge: (...input) => knowledgeAround(here, ...input),
        quotes: (...input) => quotesFrom(here, ...input),
      };
    },
  };
  const { sessions, sourceAccess } = deps;
  const views = { ...options, ...indexes, vectors: vectorVersions.vectors, sessions, users, sourceAccess };
  let subscriptions: readonly Subscription[] = [];
  return {
    name: 'search',
    routes: [
      ...searchRoutes(deps),
      ...recallRoutes(deps),
      ...responseRoutes(deps),
      ...visualizeRoutes(views),
      ...liveEventRoutes(views),
      ...schemaRoutes(views),
    ],
    sockets: [viewSocket(views)],
    async start() {
      const { messenger } = options;
      subscriptions = await Promise.all([
        messenger.serve('search.LookFor', (request, context) => lookFor(deps, request, context)),
        messenger.serve('search.Answer', (request, context) => answerQuestion(deps, request, context)),
        messenger.serve('search.Erase', ({ dataset }) => {
          deps.readiness.forget(dataset.id);
          return eraseSearched(deps.history, dataset);
        }),
        messenger.serve('search.EraseAnswers', (request) => eraseAnswers(deps.history, request)),
        messenger.subscribe('access', EVERY_TENANT, ({ datasetId }) => {
          if (datasetId !== null) deps.readiness.forget(datasetId);
        }),
      ]);
    },
    async stop() {
      await copies?.stop();
      await deps.turns.settle();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
    },
  };
}

/** Null where indexes need no trip, or no memory is given for copies. */
function createCopies(options: SearchServiceOptions & Pick<DatasetCopiesOptions, 'supersessions' | 'vectorVersions'>) {
  const { indexes, settings } = options;
  if (settings.copyMemoryBytes === 0 || (indexes.text.copy === undefined && indexes.graph.copy === undefined))
    return null;
  const leases = createDatasetCopyLeases(options);
  return createDatasetCopies({ ...options, from: indexes, maxBytes: settings.copyMemoryBytes, leases });
}

/** Returns readers of sessions, which ingest and improve write. */
function sessionReaders(store: DocumentStore): SessionReaders {
  const sessions = createSessions(store);
  return {
    sessions,
    entries: createSessionEntries(store, sessions),
    contexts: createSessionContexts(store),
    visible: createVisibleSessions(store, sessions),
    users: createUsers(store),
  };
}
