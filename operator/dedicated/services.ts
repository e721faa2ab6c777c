import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../services/common/platform/config/configuration.ts';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { createSignedMessenger } from '../../services/common/platform/messaging/messenger.ts';
import type { Clock, MonotonicClock } from '../../services/common/ports/system.ts';
import type { Bus } from '../../services/common/storage/ports/bus.ts';
import type { Tenant } from '../api/tenant.ts';
import { createServices, type Services } from '../installation/services.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import { KINDS, type Secret, secretText } from '../kube-runtime/kube-object.ts';
import type { Provision } from '../stores/store-administrator.ts';
import { objectName, SETTINGS } from './names.ts';

/** Services of one Dedicated tenant, over a connection of their own. */
export interface OpenServices extends Services {
  close(): Promise<void>;
}

/** How to reach the bus of a Dedicated tenant: the variables that its services have, and contents of files. */
export type BusAddress = Pick<Provision, 'settings' | 'secrets' | 'files'>;

/** Connects to the bus of a Dedicated tenant. Throws `ServiceUnavailableError` when its server does not answer. */
export type OpenBus = (address: BusAddress) => Promise<OpenServices>;

interface Connection {
  readonly address: string;
  readonly services: Promise<OpenServices>;
  usedAtMs: number;
}

/** Each tenant is reconciled every ten minutes: one that is not used for so long is gone, or this process leads no more. */
const IDLE_MS = 30 * 60_000;

export type DedicatedServices = ReturnType<typeof createDedicatedServices>;

/** Services of the Dedicated tenants; each connection is opened when it is needed, and closed when it is idle. */
export function createDedicatedServices(deps: {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: MonotonicClock;
  readonly open: OpenBus;
}) {
  const { client, clock, open } = deps;
  const connections = new Map<string, Connection>();

  async function forget(uid: string): Promise<void> {
    const connection = connections.get(uid);
    connections.delete(uid);
    await connection?.services.then((services) => services.close()).catch(() => {});
  }

  function connect(uid: string, address: BusAddress): Promise<OpenServices> {
    const services = open(address);
    const connection = { address: textOf(address), services, usedAtMs: clock.monotonicMs() };
    connections.set(uid, connection);
    // A connection that could not be opened is tried again with the next call.
    services.catch(() => {
      if (connections.get(uid) === connection) connections.delete(uid);
    });
    return services;
  }

  function closeIdle(): void {
    const now = clock.monotonicMs();
    for (const [uid, { usedAtMs }] of connections) if (now - usedAtMs > IDLE_MS) void forget(uid);
  }

  return {
    /** Closes the connection to the tenant's bus if its address has changed. */
    async use(uid: string, address: BusAddress): Promise<void> {
      const connection = connections.get(uid);
      if (connection === undefined || connection.address === textOf(busOf(address))) return;
      await forget(uid);
    },
    async of(tenant: Tenant, signal: AbortSignal): Promise<Services> {
      closeIdle();
      const { uid = '', namespace = '' } = tenant.metadata;
      const connection = connections.get(uid);
      if (connection !== undefined) {
        connection.usedAtMs = clock.monotonicMs();
        return connection.services;
      }
      const place = { name: objectName(tenant, SETTINGS), namespace };
      const secret = await client.get<Secret>(KINDS.secret, place, { signal });
      return connections.get(uid)?.services ?? connect(uid, addressIn(secret));
    },
    forget,
    async close(): Promise<void> {
      await Promise.all([...connections.keys()].map(forget));
    },
  };
}

const BUS = /^ENGRAM_NATS_/;
/** Contents of files, and paths to them, have the same variables. */
const FILE = /_FILE$/;

function addressIn(secret: Secret | null): BusAddress {
  const names = Object.keys(secret?.data ?? {}).filter((name) => BUS.test(name));
  const texts = (wanted: (name: string) => boolean) =>
    Object.fromEntries(names.filter(wanted).map((name) => [name, secretText(secret ?? {}, name) ?? '']));
  return { settings: {}, secrets: texts((name) => !FILE.test(name)), files: texts((name) => FILE.test(name)) };
}

function busOf({ settings, secrets, files }: BusAddress): BusAddress {
  const own = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).filter(([name]) => BUS.test(name)));
  return { settings: {}, secrets: { ...own(settings), ...own(secrets) }, files: own(files) };
}

function textOf({ secrets, files }: BusAddress): string {
  const sorted = (texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([sorted(secrets), sorted(files)]);
}

/** Opens the bus with the same variables that the tenant's services have. Its files exist for as long as it is open. */
export async function openDedicatedBus(
  { settings, secrets, files }: BusAddress,
  /** `connect` throws `ServiceUnavailableError` when the server does not answer. */
  { connect, clock }: { connect(config: Config): Promise<Bus>; readonly clock: Clock },
): Promise<OpenServices> {
  const folder = Object.keys(files).length === 0 ? null : await mkdtemp(join(tmpdir(), 'engram-bus-'));
  const removeFiles = async () => {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  };
  try {
    const paths: Record<string, string> = {};
    for (const [variable, content] of Object.entries(files)) {
      paths[variable] = join(folder ?? '', variable);
      await writeFile(paths[variable], content, { mode: 0o600 });
    }
    const bus = await connect(loadConfig({ ...settings, ...secrets, ...paths }).config);
    return {
      ...createServices(createSignedMessenger(bus, clock), clock),
      async close() {
        await bus.drain();
        await removeFiles();
      },
    };
  } catch (error) {
    await removeFiles();
    throw error;
  }
}
