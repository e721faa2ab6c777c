import { isEngramError } from '../../services/common/kernel/errors.ts';
import type { TenantStatusStore } from '../api/tenant.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { retrying, StepFailure, type StepOutcome, stalled } from '../kube-runtime/steps.ts';
import type { Provision, StoreAdministrator } from '../stores/store-administrator.ts';
import type { InstallationKeys } from './keys.ts';

/** What only a person with the stores' passwords can set right is looked at again by itself, too. */
const REFUSED_AGAIN_MS = 300_000;

/** Makes or corrects what the tenant has in each store, one after the other. */
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

/** As `status.stores` says it. */
export function storesStatus({ stores }: Provision): readonly TenantStatusStore[] {
  return stores.map(({ role, driver, name, isolation, ownCredentials }) => ({
    role,
    driver,
    name,
    isolation,
    ownCredentials,
  }));
}

/** Runs a call of an administrator and turns what it cannot do into the outcome of a step, said of a condition. */
export async function askStore<Answer>(
  { driver }: Pick<StoreAdministrator, 'driver'>,
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

/** Not retryable: the store refuses its administrator, or cannot keep a tenant apart as it is set up. */
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
