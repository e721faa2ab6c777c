import type { Clock } from '../../../services/common/ports/system.ts';
import type { Tenant, TenantStatus } from '../../api/tenant.ts';
import type { DatasetServices } from '../../dataset/services.ts';
import type { KubeClient } from '../../kube-runtime/kube-client.ts';
import { KINDS, type Secret } from '../../kube-runtime/kube-object.ts';
import type { Provision } from '../../stores/store-administrator.ts';
import type { TenantServices } from '../services.ts';
import { secretText } from '../tenant-secrets.ts';
import { objectName, SETTINGS } from './names.ts';

/** Both ports to the services of one installation. */
export interface ServicePorts {
  readonly tenant: TenantServices;
  readonly dataset: DatasetServices;
}

export interface OpenPorts extends ServicePorts {
  close(): Promise<void>;
}

/** What says where the bus of a Dedicated tenant is: the variables that its services have, and contents of files. */
export type BusAddress = Pick<Provision, 'settings' | 'secrets' | 'files'>;

/** Opens the bus of a Dedicated tenant. Throws `ServiceUnavailableError` when its server is away. */
export type OpenBus = (address: BusAddress) => Promise<OpenPorts>;

/** Services of Dedicated tenants, each over a connection of its own, which is opened when it is needed. */
export interface OwnServices {
  /** The tenant's bus is there from now on; another one than before replaces it. */
  use(uid: string, address: BusAddress): Promise<void>;
  of(tenant: Tenant, signal: AbortSignal): Promise<ServicePorts>;
  forget(uid: string): Promise<void>;
  close(): Promise<void>;
}

/** The one question by which everything that differs is chosen. */
export function isDedicated({ spec }: Pick<Tenant, 'spec'>): boolean {
  return spec.isolation === 'Dedicated';
}

/**
 * Its own services are scaled to none: by declaration, or as auth said before it ended that nobody used it. While the resource
 * is being deleted they run.
 */
export function isAsleep(
  { metadata, spec }: Pick<Tenant, 'metadata' | 'spec'>,
  status: Pick<Partial<TenantStatus>, 'state'> | undefined,
): boolean {
  if (spec.isolation !== 'Dedicated' || metadata.deletionTimestamp !== undefined) return false;
  const mayIdle = spec.state === 'Active' && spec.hibernation !== undefined;
  return spec.state === 'Hibernated' || (mayIdle && status?.state === 'Hibernated');
}

interface Held {
  readonly address: string;
  readonly ports: Promise<OpenPorts>;
  usedAtMs: number;
}

/** Each tenant is asked every ten minutes, so one that is not was let go, or this process does not lead any more. */
const IDLE_MS = 30 * 60_000;

export function createOwnServices(deps: {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly open: OpenBus;
}): OwnServices {
  const { client, clock, open } = deps;
  const held = new Map<string, Held>();

  async function closeOne(uid: string): Promise<void> {
    const one = held.get(uid);
    held.delete(uid);
    await one?.ports.then((ports) => ports.close()).catch(() => {});
  }

  function opened(uid: string, address: BusAddress): Promise<OpenPorts> {
    const ports = open(address);
    const one = { address: textOf(address), ports, usedAtMs: clock.monotonicMs() };
    held.set(uid, one);
    // What could not be opened is tried again with the next call.
    ports.catch(() => {
      if (held.get(uid) === one) held.delete(uid);
    });
    return ports;
  }

  function closeIdle(): void {
    const now = clock.monotonicMs();
    for (const [uid, { usedAtMs }] of held) if (now - usedAtMs > IDLE_MS) void closeOne(uid);
  }

  return {
    async use(uid, address) {
      const one = held.get(uid);
      if (one === undefined || one.address === textOf(busOf(address))) return;
      await closeOne(uid);
    },
    async of(tenant, signal) {
      closeIdle();
      const { uid = '', namespace = '' } = tenant.metadata;
      const one = held.get(uid);
      if (one !== undefined) {
        one.usedAtMs = clock.monotonicMs();
        return one.ports;
      }
      const place = { name: objectName(tenant, SETTINGS), namespace };
      const secret = await client.get<Secret>(KINDS.secret, place, { signal });
      return held.get(uid)?.ports ?? opened(uid, addressIn(secret));
    },
    forget: closeOne,
    async close() {
      await Promise.all([...held.keys()].map(closeOne));
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
