import { expect } from 'chai';
import { until } from '../../support/until.ts';
import type { CountedServers } from './counted-servers.ts';
import type { CountedStore } from './counting-proxy.ts';

/** How many requests each store got. */
export type RoundTrips = Readonly<Record<CountedStore, number>>;

export interface Measured {
  readonly trips: RoundTrips;
  /** How often a request of that kind was made, `<store>: <name>`. */
  timesOf(kind: string): number;
  /** Every kind of request with its count, for the message of a failure. */
  readonly listing: string;
}

/** What is asked every second or so whatever is done: the look for work, and for builds to stop; the limits of callers. */
const UPKEEP = new Set([
  ...['find jobs', 'find budgets', 'find improve_wishes', 'find model_settings'],
  ...['find source_connections', 'find source_deliveries', 'find source_installs', 'find source_answers'],
]);
/** What a request leaves to be done after its answer is over when nothing was asked for so long. */
const QUIET_MS = 300;

export async function countTrips(servers: CountedServers, work: () => Promise<unknown>): Promise<Measured> {
  await untilQuiet(servers);
  const from = servers.exchanges.length;
  await work();
  await untilQuiet(servers);
  const trips = { mongodb: 0, elasticsearch: 0, neo4j: 0, nats: 0 };
  const kinds = new Map<string, number>();
  for (const { store, name } of servers.exchanges.slice(from)) {
    if (UPKEEP.has(name)) continue;
    trips[store] += 1;
    kinds.set(`${store}: ${name}`, (kinds.get(`${store}: ${name}`) ?? 0) + 1);
  }
  const lines = [...kinds].toSorted((a, b) => b[1] - a[1]).map(([kind, count]) => `  ${count} ${kind}`);
  const timesOf = (kind: string) => kinds.get(kind) ?? 0;
  return { trips, timesOf, listing: lines.join('\n') };
}

/** Whatever went before may still be at work, and on a slow machine for long. */
async function untilQuiet({ exchanges }: CountedServers): Promise<void> {
  const isQuiet = (): boolean => {
    const asked = exchanges.filter(({ name }) => !UPKEEP.has(name));
    // Who publishes something gets no answer.
    const isUnderWay = asked.some(({ store, answeredAt }) => store !== 'nats' && answeredAt === null);
    return !isUnderWay && performance.now() - (asked.at(-1)?.sentAt ?? 0) > QUIET_MS;
  };
  await until('nothing is asked of the servers', isQuiet, { everyMs: 20, limitMs: 30_000 });
}

export function expectAtMost({ trips, listing }: Measured, bounds: RoundTrips): void {
  const over = stores(bounds).filter((store) => trips[store] > bounds[store]);
  expect(over, `${JSON.stringify(trips)} with at most ${JSON.stringify(bounds)}\n${listing}\n`).to.deep.equal([]);
}

/** That `larger` took no more than `few` trips more to any store. */
export function expectNoGrowth(smaller: Measured, larger: Measured, few: number): void {
  const grown = stores(larger.trips).filter((store) => larger.trips[store] - smaller.trips[store] > few);
  const told = `${JSON.stringify(smaller.trips)}, then ${JSON.stringify(larger.trips)}\n${larger.listing}\n`;
  expect(grown, told).to.deep.equal([]);
}

function stores(trips: RoundTrips): readonly CountedStore[] {
  return Object.keys(trips) as CountedStore[];
}
