import { isEngramError } from '../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../common/kernel/scope.ts';
import type { HealthChecks } from '../common/platform/http/health-probe.ts';
import type { ModelCallContext } from '../common/ports/models.ts';
import { outcomeOf } from './probe-model.ts';

interface CheckedModel {
  /** Null: the one that is built in. */
  readonly provider: string | null;
  /** Fault that is known without asking the provider. */
  readonly fault: string | null;
  /** Sends the provider a minimal request; another function for another model. Null: there is no provider to ask. */
  readonly ask: ((context: ModelCallContext) => Promise<unknown>) | null;
  readonly identity: unknown;
}

/** A provider that does not answer for so long counts as unreachable. */
const TIMEOUT_MS = 10_000;
/** Time that the caller waits; the question goes on behind the answer. */
const WAIT_MS = 1_500;
/** How long an answer stands: each question is billed. */
const HEALTHY_MS = 300_000;
const FAULTY_MS = 15_000;

interface Finding {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly details: string;
}

/** Says whether the configured provider answers, by asking it now and then. */
export function modelCheck(builtin: string, configured: () => Promise<CheckedModel>): HealthChecks[string] {
  let asked: { readonly identity: unknown; readonly atMs: number; readonly finding: Promise<Finding> } | null = null;
  let last: Finding | null = null;

  const find = (ask: NonNullable<CheckedModel['ask']>, identity: unknown): Promise<Finding> => {
    const keptMs = last === null || last.status === 'healthy' ? HEALTHY_MS : FAULTY_MS;
    if (asked === null || asked.identity !== identity || performance.now() - asked.atMs > keptMs) {
      last = null;
      const finding = question(ask);
      const begun = { identity, atMs: performance.now(), finding };
      asked = begun;
      void finding.then((found) => {
        if (asked === begun) last = found;
      });
    }
    return asked.finding;
  };
  return {
    critical: false,
    async check() {
      const { provider, fault, ask, identity } = await configured();
      const shown = provider ?? builtin;
      if (fault !== null) return { status: 'degraded', provider: shown, details: fault };
      if (ask === null) return { status: 'healthy', provider: shown, details: 'Built in; nothing is configured' };
      const found = await Promise.race([find(ask, identity), unanswered()]);
      return { ...found, provider: shown };
    },
  };
}

async function question(ask: NonNullable<CheckedModel['ask']>): Promise<Finding> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await ask({ scope: { tenant: PERSONAL_TENANT }, purpose: 'query', signal });
    return { status: 'healthy', details: 'The provider answers' };
  } catch (error) {
    return { status: 'unhealthy', details: reasonOf(error, signal.aborted) };
  }
}

/** Describes the fault without the words of the provider: health is answered without an account. */
function reasonOf(error: unknown, isLate: boolean): string {
  if (isLate) return 'The provider does not answer; check the endpoint';
  if (!isEngramError(error)) return 'The provider cannot be asked';
  const outcome = outcomeOf(error);
  if (outcome === 'rejected') return 'The provider refuses the key or its payment';
  if (outcome === 'invalid') return 'The provider does not take the model as it is configured';
  return outcome === 'accepted' ? 'The provider filters the question' : 'The provider does not answer as it should';
}

async function unanswered(): Promise<Finding> {
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref());
  return { status: 'degraded', details: 'The provider was asked and has not answered yet' };
}
