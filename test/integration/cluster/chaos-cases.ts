import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createClient } from '../../bench/speed/client.ts';
import { type FaultyServer, type FaultyServers, startFaultyServers } from './faulty-servers.ts';
import { historyOf } from './run-history.ts';
import { type Exchange, type SteadyLoad, startLoad } from './steady-load.ts';

type Fault = 'cut' | 'slow' | 'hang';

/** What is under test: one process, or several behind one address. */
export interface ChaosSubject {
  readonly baseUrl: string;
  /** Of every process that serves. */
  pids(): readonly number[];
  output(): string;
  stop(): Promise<unknown>;
}

interface ChaosCaseOptions {
  readonly servers: readonly FaultyServer[];
  readonly faultMs: number;
  readonly datasets: readonly string[];
  /** Between the requests of one worker. */
  readonly pauseMs: number;
  /** Whether the suites play out side by side, each with a subject of its own, or one after the other. */
  readonly isSideBySide: boolean;
  /** Starts it with these settings beside its own. */
  start(environment: Readonly<Record<string, string>>): Promise<ChaosSubject>;
  readonly timeoutMs: number;
  /** Gets the figures of each fault. */
  readonly tell?: (line: string) => void;
}

/** What one server's fault did. Times are null for what did not happen in time. */
interface Outcome {
  readonly exchanges: readonly Exchange[];
  /** Whether `/readyz` was red in the meantime. */
  readonly wasRed: boolean;
  readonly greenAfterMs: number | null;
  /** Until every kind of request was answered with 200 once. */
  readonly wellAfterMs: number | null;
  /** Log lines of requests that failed for a reason that nobody foresaw. */
  readonly unforeseen: readonly string[];
  /** What the log says beside its line for each request. */
  readonly lines: readonly string[];
  readonly memoryBytes: number;
}

/** The patience of our clients (clients.md): nothing may take longer. */
const DEADLINE_MS = 30_000;
const SLOW_MS = 2_000;
const WARM_UP_MS = 2_000;
const RECOVERY_MS = 30_000;
/** Of the largest process, between the first fault and the last. */
const MEMORY_GROWTH_BYTES = 200 * 2 ** 20;
/** Kinds of lines that a fault may bring, and how often each: a change is told once, not with each request. */
const SAME_LINES = 12;
const ENDED_ONCE = ['DATASET_PROCESSING_COMPLETED', 'DATASET_PROCESSING_STARTED'];
const ORDER: readonly Fault[] = ['cut', 'slow', 'hang'];
const KINDS = ['add', 'cognify', 'search', 'graph', 'recall', 'list'];
const FAULTS = {
  cut: (proxy) => proxy.cut(),
  slow: (proxy) => proxy.slow(SLOW_MS),
  hang: (proxy) => proxy.hang(),
} as const satisfies Readonly<Record<Fault, (proxy: FaultyServers['proxies'][FaultyServer]) => Promise<void>>>;
const TITLES: Readonly<Record<Fault, string>> = {
  cut: 'away',
  slow: `${SLOW_MS / 1000} s late with each answer`,
  hang: 'silent on open connections',
};

/**
 * Each server in turn fails under load, in one way for each suite. The same cases in a short form and in a long one for
 * `npm run test:soak`.
 */
export function describeClusterChaos(options: ChaosCaseOptions): void {
  describe(`servers that fail for ${options.faultMs / 1000} s each`, function () {
    this.timeout(options.timeoutMs);
    const worlds = new Map<Fault, ChaosWorld>();

    before(async () => {
      const play = async (fault: Fault) => worlds.set(fault, await playOut(fault, options));
      if (options.isSideBySide) await Promise.all(ORDER.map(play));
      else for (const fault of ORDER) await play(fault);
    });

    const worldOf = (fault: Fault): ChaosWorld => {
      const world = worlds.get(fault);
      if (world === undefined) throw new Error('it was not played');
      return world;
    };
    for (const fault of ORDER) {
      describe(`when one is ${TITLES[fault]}`, () => {
        for (const server of options.servers) {
          it(`answers in time without ${server}, and is well again by itself`, () => {
            const outcome = worldOf(fault).outcomes.get(server);
            if (outcome === undefined) throw new Error('it did not fail');
            expectAnswers(outcome);
            expectRecovery(outcome, fault);
            expectFewLines(outcome.lines);
          });
        }
        it('loses nothing that was acknowledged', () => {
          const { acknowledged, lost, histories } = worldOf(fault);
          expect(acknowledged, 'texts').to.be.greaterThan(0);
          expect(lost, 'texts').to.deep.equal([]);
          for (const [run, history] of histories) expect(history, `history of ${run}`).to.deep.equal(ENDED_ONCE);
        });
        it('keeps its memory bounded', () => {
          const { outcomes, memoryBefore } = worldOf(fault);
          const bytes = [...outcomes.values()].map(({ memoryBytes }) => memoryBytes);
          const told = `bytes; ${memoryBefore} before, then ${bytes.join(', ')}`;
          expect(Math.max(...bytes) - memoryBefore, told).to.be.lessThan(MEMORY_GROWTH_BYTES);
        });
      });
    }
  });
}

interface ChaosWorld extends Aftermath {
  readonly outcomes: ReadonlyMap<FaultyServer, Outcome>;
  readonly memoryBefore: number;
}

async function playOut(fault: Fault, options: ChaosCaseOptions): Promise<ChaosWorld> {
  const { servers, datasets, pauseMs, faultMs } = options;
  await using faulty = await startFaultyServers();
  const subject = await options.start(faulty.environment);
  try {
    await build(subject, datasets);
    // Twice as patient as may be needed: how late an answer was says more than that there was none.
    const load = startLoad({ baseUrl: subject.baseUrl, datasets, pauseMs, patienceMs: 2 * DEADLINE_MS });
    await sleep(WARM_UP_MS);
    const memoryBefore = memoryOf(subject);
    const outcomes = new Map<FaultyServer, Outcome>();
    for (const server of servers) {
      const outcome = await suffer({ subject, load, proxy: faulty.proxies[server], fault, faultMs });
      outcomes.set(server, outcome);
      options.tell?.(`${server} ${fault}: ${summaryOf(outcome)}`);
    }
    await load.stop();
    return { ...(await aftermathOf(subject, load)), outcomes, memoryBefore };
  } finally {
    await createClient(subject.baseUrl).post('/api/v1/forget', { everything: true });
    await subject.stop();
  }
}

/** Something to find in each. */
async function build({ baseUrl }: ChaosSubject, datasets: readonly string[]): Promise<void> {
  const client = createClient(baseUrl);
  for (const datasetName of datasets) {
    await client.post('/api/v1/add', { datasetName, data: ['Ada Lovelace met Charles Babbage in London.'] });
    await client.post('/api/v1/cognify', { datasets: [datasetName] });
  }
}

interface Suffering {
  readonly subject: ChaosSubject;
  readonly load: SteadyLoad;
  readonly proxy: FaultyServers['proxies'][FaultyServer];
  readonly fault: Fault;
  readonly faultMs: number;
}

async function suffer({ subject, load, proxy, fault, faultMs }: Suffering): Promise<Outcome> {
  const outputBefore = subject.output().length;
  const startedAt = performance.now();
  await FAULTS[fault](proxy);
  let wasRed = false;
  const mustBeRed = fault !== 'slow';
  // How soon it is noticed depends on the machine, too.
  const isOver = () =>
    performance.now() > startedAt + (mustBeRed && !wasRed ? Math.max(faultMs, RECOVERY_MS) : faultMs);
  while (!isOver()) {
    wasRed ||= !(await isReady(subject));
    await sleep(100);
  }
  await proxy.heal();
  const healedAt = performance.now();
  const since = async (condition: () => boolean | Promise<boolean>): Promise<number | null> => {
    while (!(await condition())) {
      if (performance.now() > healedAt + RECOVERY_MS) return null;
      await sleep(50);
    }
    return Math.round(performance.now() - healedAt);
  };
  const isWell = (kind: string) =>
    load.exchanges.some(({ what, status, startedAtMs }) => what === kind && status === 200 && startedAtMs > healedAt);
  const greenAfterMs = await since(() => isReady(subject));
  const wellAfterMs = await since(() => KINDS.every(isWell));
  return {
    exchanges: load.exchanges.filter(({ startedAtMs, tookMs }) => startedAtMs + tookMs > startedAt),
    wasRed,
    greenAfterMs,
    wellAfterMs,
    unforeseen: subject
      .output()
      .slice(outputBefore)
      .split('\n')
      .filter((line) => line.includes('"status":500')),
    lines: linesOf(subject.output().slice(outputBefore)),
    memoryBytes: memoryOf(subject),
  };
}

function summaryOf({ exchanges, wasRed, greenAfterMs, wellAfterMs, lines, memoryBytes }: Outcome): string {
  const statuses = Map.groupBy(exchanges, ({ status }) => status ?? 'unanswered');
  const slowest = Math.max(...exchanges.map(({ tookMs }) => tookMs));
  return [
    [...statuses].map(([status, same]) => `${same.length} × ${status}`).join(', '),
    `slowest ${slowest} ms`,
    `${wasRed ? 'red, ' : ''}green after ${greenAfterMs} ms, well after ${wellAfterMs} ms`,
    `${lines.length} lines`,
    `${Math.round(memoryBytes / 2 ** 20)} MB`,
  ].join('; ');
}

async function isReady({ baseUrl }: ChaosSubject): Promise<boolean> {
  const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(DEADLINE_MS) });
  await response.arrayBuffer();
  return response.ok;
}

function expectAnswers({ exchanges, unforeseen }: Outcome): void {
  const told = ({ what, status, tookMs, fault }: Exchange): string => `${what}: ${status} after ${tookMs} ms ${fault}`;
  const isWrong = ({ status }: Exchange) => status !== 200 && status !== 503 && status !== 504;
  expect([...new Set(exchanges.filter(isWrong).map(told))], unforeseen.join('\n')).to.deep.equal([]);
  expect(exchanges.filter(({ tookMs }) => tookMs > DEADLINE_MS).map(told)).to.deep.equal([]);
  const isMute = ({ status, retryAfter }: Exchange) => status === 503 && retryAfter === null;
  expect([...new Set(exchanges.filter(isMute).map(told))], 'without Retry-After').to.deep.equal([]);
}

function expectRecovery({ wasRed, greenAfterMs, wellAfterMs }: Outcome, fault: Fault): void {
  if (fault !== 'slow') expect(wasRed, 'red meanwhile').to.equal(true);
  expect(greenAfterMs, 'ms until it is green').to.be.a('number');
  expect(wellAfterMs, 'ms until requests of each kind succeed').to.be.a('number');
}

function expectFewLines(lines: readonly string[]): void {
  const floods = [...Map.groupBy(lines, (line) => line)].filter(([, same]) => same.length > SAME_LINES);
  expect(floods.map(([line, same]) => `${same.length} × ${line}`)).to.deep.equal([]);
}

/** Event, item and fault of each line that tells of trouble. */
function linesOf(output: string): readonly string[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{') || !line.endsWith('}')) return line === '' ? [] : [line];
    const { level, event, itemId, error } = JSON.parse(line) as {
      readonly level: string;
      readonly event: string;
      readonly itemId?: string;
      readonly error?: { readonly message?: string };
    };
    const isTrouble = (level === 'warn' || level === 'error') && event !== 'http.request';
    return isTrouble ? [[event, itemId, error?.message].filter(Boolean).join(' ')] : [];
  });
}

/** What is there when all is over. */
interface Aftermath {
  /** Texts whose add was acknowledged. */
  readonly acknowledged: number;
  /** Words of those that cannot be found. */
  readonly lost: readonly string[];
  /** Statuses of each acknowledged run, newest first. */
  readonly histories: ReadonlyMap<string, readonly string[]>;
}

/** Waits for runs, which must go on by themselves. */
async function aftermathOf(subject: ChaosSubject, { runs, kept }: SteadyLoad): Promise<Aftermath> {
  const client = createClient(subject.baseUrl);
  const hasEnded = (statuses: readonly string[] | undefined) => (statuses?.length ?? 0) >= ENDED_ONCE.length;
  let history = await historyOf(client);
  while (![...runs].every((run) => hasEnded(history.get(run)))) {
    await sleep(200);
    history = await historyOf(client);
  }
  // Texts whose add was acknowledged when the request to build them was not.
  await client.post('/api/v1/cognify', { datasets: [...kept.keys()] });
  const lost: string[] = [];
  for (const [dataset, words] of kept) {
    for (const query of words) {
      const search = { query, datasets: [dataset], searchType: 'CHUNKS_LEXICAL', topK: 1 };
      if (!JSON.stringify(await client.post('/api/v1/search', search)).includes(query)) lost.push(query);
    }
  }
  return {
    acknowledged: [...kept.values()].flat().length,
    lost,
    histories: new Map([...runs].map((run) => [run, history.get(run) ?? []])),
  };
}

/** Resident bytes of the largest process. */
function memoryOf(subject: ChaosSubject): number {
  return Math.max(...subject.pids().map(residentBytes));
}

function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}
