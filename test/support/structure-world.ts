import { createHashingEmbedder } from '../../services/common/models/hashing/hashing-embedder.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import type { ModelSource } from '../../services/common/ports/active-models.ts';
import { onlyEmbedder } from '../../services/common/ports/embedders.ts';
import type { Embedder, LanguageModel } from '../../services/common/ports/models.ts';
import { createVectorIndexVersions } from '../../services/common/records/cognify/vector-index-versions.ts';
import { claimKeys, createImproveClaims } from '../../services/common/records/improve/improve-claims.ts';
import { createSessions } from '../../services/common/records/sessions/sessions.ts';
import { DEFAULT_IMPROVE_SETTINGS, type ImproveSettings } from '../../services/improve/dependencies.ts';
import {
  createPassReads,
  defaultOptions,
  type ImproveOptions,
  type ImprovePass,
} from '../../services/improve/model.ts';
import { createStructureItems } from '../../services/improve/repositories/structure-items.ts';
import { CALL } from './call-route.ts';
import { capitalsExtractor, createWorld, startCognify, type TestCognify, type TestWorld } from './cognify-service.ts';

/** Token of the improve's claim on the dataset. */
const LEASE_TOKEN = 'test/0';
const A_DAY_MS = 86_400_000;
const HASHING = createHashingEmbedder({ dimensions: 64 });

/** A dataset that the real cognify builds, and the dependencies of the structure stages. */
export interface StructureWorld extends AsyncDisposable {
  readonly world: TestWorld;
  readonly cognify: TestCognify;
  readonly deps: ReturnType<typeof dependenciesOf>;
  /** Texts that the stages have embedded so far. */
  readonly embedded: string[];
  /** Texts that cognify has embedded so far. */
  readonly embeddedByCognify: string[];
  pass(options?: Partial<ImproveOptions>, sessions?: readonly string[]): ImprovePass;
  /** Adds the texts as items and builds them. */
  learn(...texts: readonly string[]): Promise<void>;
}

export async function createStructureWorld(
  parts: Parameters<typeof createWorld>[0] & {
    readonly model?: LanguageModel;
    readonly settings?: Partial<ImproveSettings>;
    /** False: the test claims the dataset itself. */
    readonly isHeld?: boolean;
    /** Embedder of cognify. */
    readonly embedder?: Embedder;
  } = {},
): Promise<StructureWorld> {
  const { model = null, settings = {}, isHeld = true, embedder = HASHING, ...rest } = parts;
  const world = await createWorld(rest);
  const [embedded, embeddedByCognify]: [string[], string[]] = [[], []];
  const cognify = await startCognify(world, { embedder: recordingEmbedder(embedder, embeddedByCognify) });
  const deps = dependenciesOf(world, cognify, { model, settings, embedder: recordingEmbedder(HASHING, embedded) });
  if (isHeld) {
    const { dataset, principal } = world;
    const lease = { nowMs: Date.now(), leaseMs: A_DAY_MS };
    await createImproveClaims(world.store).claim(claimKeys(principal.tenant, dataset.id, []), LEASE_TOKEN, lease);
  }
  let items = 0;
  return {
    world,
    cognify,
    deps,
    embedded,
    embeddedByCognify,
    pass(options = {}, sessions = []) {
      const { dataset, principal } = world;
      const context = { ...CALL, principal };
      return {
        dataset,
        principal,
        context,
        leaseToken: LEASE_TOKEN,
        sessions: sessions.map((session) => ({ user: principal.id, session })),
        options: { ...defaultOptions(0.1), ...options },
        signal: new AbortController().signal,
        reads: createPassReads(),
        idleRuns: [],
      };
    },
    async learn(...texts) {
      for (const text of texts) {
        items += 1;
        await world.addText(`text${items}`, text);
      }
      await cognify.run();
    },
    [Symbol.asyncDispose]: () => cognify[Symbol.asyncDispose](),
  };
}

function recordingEmbedder(inner: Embedder, embedded: string[]): Embedder {
  return {
    ...inner,
    embed(texts, context) {
      embedded.push(...texts);
      return inner.embed(texts, context);
    },
  };
}

function dependenciesOf(
  { store, indexes, ledger }: TestWorld,
  { messenger }: TestCognify,
  more: {
    readonly model: LanguageModel | null;
    readonly settings: Partial<ImproveSettings>;
    readonly embedder: Embedder;
  },
) {
  const models: ModelSource = {
    current: async () => ({ languageModel: more.model, missingModelKey: null, extractor: capitalsExtractor }),
  };
  const vectorVersions = createVectorIndexVersions({ store, vectors: indexes.vectors, clock: createSystemClock() });
  return {
    store,
    indexes,
    ledger,
    messenger,
    models,
    vectorVersions,
    embedder: more.embedder,
    embedders: onlyEmbedder(more.embedder),
    clock: createSystemClock(),
    ids: createIdSource(),
    sessions: createSessions(store),
    structureItems: createStructureItems(store),
    settings: { ...DEFAULT_IMPROVE_SETTINGS, ...more.settings },
  };
}
