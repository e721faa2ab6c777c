import { isEngramError } from '../../services/common/kernel/errors.ts';
import type { TenantStatusStore } from '../api/tenant.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { retrying, StepFailure, type StepOutcome, stalled } from '../kube-runtime/steps.ts';
import type { Provision, StoreAdministrator } from '../stores/store-administrator.ts';
import type { InstallationKeys } from './keys.ts';

/** A problem that only an administrator of a store can solve is checked again after this time. */
const REFUSED_AGAIN_MS = 300_000;

/** Provisions each store for the tenant, one after the other. */
export async function provisionStores(
  administrators: readonly StoreAdministrator[],
  keys: InstallationKeys,
  signal: AbortSignal,
): Promise<Provision> {
  const all: Provision[] = [];
  for (const administrator of administrators) {
    const credentials = keys.credentials(administrator.driver);
    all.push(
      await askStore(administrator, () => administrator.ensure(keys.realm, credentials, signal), 'StoresProvisioned'),
    );
  }
  return {
    settings: Object.assign({}, ...all.map(({ settings }) => settings)),
    secrets: Object.assign({}, ...all.map(({ secrets }) => secrets)),
    files: Object.assign({}, ...all.map(({ files }) => files)),
    stores: all.flatMap(({ stores }) => stores),
  };
}

/** Stores as in `status.stores`. */
export function storesStatus({ stores }: Provision): readonly TenantStatusStore[] {
  return stores.map(({ role, driver, name, isolation, ownCredentials }) => ({
    role,
    driver,
    name,
    isolation,
    ownCredentials,
  }));
}

/** Calls an administrator, and turns its errors into a `StepFailure` with the condition. */
export async function askStore<Answer>(
  { driver }: StoreAdministrator,
  call: () => Promise<Answer>,
  condition: 'StoresProvisioned' | 'ErasureComplete',
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!isEngramError(error)) throw error;
    throw new StepFailure(outcomeOf(driver, error, condition), error);
  }
}

/** Errors that are not retryable: the store refuses its administrator, or is not set up to isolate a tenant. */
const FOR_A_PERSON: ReadonlySet<string> = new Set(['ServiceUnavailableError', 'UnsupportedOperationError']);

function outcomeOf(
  driver: string,
  error: { readonly wireName: string; readonly retryable: boolean; readonly status: number; readonly message: string },
  type: string,
): StepOutcome<Record<string, unknown>> {
  const said = `${driver}: ${error.message}`;
  const failed = (reason: string): { readonly conditions: readonly ConditionDraft[] } => ({
    conditions: [{ type, status: 'False', reason, message: said }],
  });
  if (error.wireName === 'OwnedByAnother') return stalled('OwnedByAnother', said, failed('OwnedByAnother'));
  if (error.retryable || (error.status >= 500 && !FOR_A_PERSON.has(error.wireName))) {
    return retrying('StoreUnreachable', said, failed('StoreUnreachable'));
  }
  const detail = { ...failed('IsolationUnsupported'), requeueAfterMs: REFUSED_AGAIN_MS };
  return stalled('IsolationUnsupported', said, detail);
}
