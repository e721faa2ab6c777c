import type { TenantId } from '../../kernel/brand.ts';
import { type EngramError, engramError } from '../../kernel/errors.ts';
import type { ManagedResource, ManagedResources, ManagedThing } from './managed-resources.ts';

interface Dependencies {
  readonly managedResources: ManagedResources;
}

/**
 * The record of a resource that manages the thing. Errors: `OwnedByAnother` when another resource does, or none;
 * `ConflictError` when the thing is being erased.
 */
export async function requireManaged(deps: Dependencies, thing: ManagedThing, crUid: string): Promise<ManagedResource> {
  const managed = await requireManager(deps, thing, crUid);
  if (managed.isErasing) throw beingErased(thing);
  return managed;
}

/** The same, also of a thing that is being erased. */
export async function requireManager(
  { managedResources }: Dependencies,
  thing: ManagedThing,
  crUid: string,
): Promise<ManagedResource> {
  const managed = await managedResources.of(thing);
  if (managed?.crUid === crUid) return managed;
  throw ownedByAnother(thing, managed === null ? 'is managed by no resource' : 'is managed by another resource');
}

/** The record of the resource of a tenant that erases all of it, every dataset with it; null where it does not. */
export async function eraserOfTenant(
  { managedResources }: Dependencies,
  tenant: TenantId,
  crUid: string,
): Promise<ManagedResource | null> {
  const managed = await managedResources.of({ tenant, dataset: null });
  return managed?.crUid === crUid && managed.isErasing ? managed : null;
}

export function ownedByAnother(thing: ManagedThing, what = 'is managed by another resource'): EngramError {
  return engramError('OwnedByAnother', `The ${kindOf(thing)} ${what}.`);
}

export function beingErased(thing: ManagedThing): EngramError {
  return engramError('ConflictError', `The ${kindOf(thing)} is being erased.`);
}

function kindOf({ dataset }: ManagedThing): string {
  return dataset === null ? 'tenant' : 'dataset';
}
