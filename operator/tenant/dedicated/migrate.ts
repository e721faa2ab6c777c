import { KINDS, type KubeObject } from '../../kube-runtime/kube-object.ts';
import type { TenantContext, TenantDependencies } from '../dependencies.ts';
import { type Readiness, readMigrationProblem } from './readiness.ts';
import { type Installation, migration } from './workloads.ts';

interface Job extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** What keeps the services of another release from being made. */
export interface Migration {
  /** Name of its Job. */
  readonly job: string;
  readonly hasFailed: boolean;
  /** What holds up its pod. */
  readonly problem: Readiness['problem'];
}

/**
 * Brings the stores to the layout of the release whose image the services are to have, which the one before can still read,
 * by a Job of that image. Null when it is done, or there is nothing to do; until then nothing is changed about the services:
 * those of the former release serve. What a killed operator left half-way goes on: the Job stays until every service has the
 * image.
 */
export async function migrate(
  { client, applier }: TenantDependencies,
  { object, event, signal }: TenantContext,
  { installation, readiness }: { readonly installation: Installation; readonly readiness: Readiness },
): Promise<Migration | null> {
  const { image } = installation.options;
  if (readiness.images.every((held) => held === image)) return null;
  const desired = migration(installation);
  const { created } = await applier.apply(object, desired, { prune: [KINDS.job], signal });
  const place = desired.find(({ kind }) => kind === KINDS.job)?.object.metadata;
  if (place === undefined) return null;
  if (created.some((name) => name.startsWith('Job '))) {
    const message = `The stores are brought to the layout of ${image} by Job ${place.name}`;
    event({ type: 'Normal', reason: 'MigrationStarted', message });
  }
  const { status } = (await client.get<Job>(KINDS.job, place, { signal })) ?? {};
  const has = (wanted: string) => status?.conditions?.some(({ type, status: so }) => type === wanted && so === 'True');
  if (has('Complete')) return null;
  const problem = await readMigrationProblem(client, object, { job: place.name, signal });
  return { job: place.name, hasFailed: has('Failed') ?? false, problem };
}
