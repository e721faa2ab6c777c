import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import { type NatsBus, type NatsBusOptions, openNatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import { KEPT } from '../../conformance/bus.ts';

/** Buses of one test on a shared server: their subjects and streams begin with a word of their own. */
export interface NatsWorld extends AsyncDisposable {
  readonly prefix: string;
  /** One more connection of the same world. */
  open(options?: Partial<NatsBusOptions>): Promise<NatsBus>;
}

export function natsWorld(url: string): NatsWorld {
  const prefix = `t${randomUUID().slice(0, 8)}`;
  const buses: NatsBus[] = [];
  return {
    prefix,
    async open(options = {}) {
      const bus = await openNatsBus({ url, prefix, kept: KEPT, onListenerError: () => {}, ...options });
      buses.push(bus);
      return bus;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(buses.map((bus) => bus.drain()));
      await removeStreams(url, prefix);
    },
  };
}

export async function removeStreams(url: string, prefix: string): Promise<void> {
  const connection = await connect({ servers: new URL(url).host });
  const manager = await connection.jetstreamManager();
  for await (const name of manager.streams.names()) {
    if (name.startsWith(`${prefix.toUpperCase()}_`)) await manager.streams.delete(name);
  }
  await connection.close();
}
