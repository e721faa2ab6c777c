import { randomUUID } from 'node:crypto';
import { attempt, type Outcome, type RunOptions, run } from './programs.ts';

const kubeconfig = process.env['ENGRAM_TEST_KUBECONFIG'];
const isRequired = process.env['ENGRAM_TEST_REQUIRE_CLUSTER'] === '1';
/** Undefined where nobody says. */
const nodes = process.env['ENGRAM_TEST_CLUSTER_NODES'];

/** Never the cluster of the developer's own KUBECONFIG. */
const ENV = { KUBECONFIG: kubeconfig ?? '/nonexistent' };

export const kubectl = (words: readonly string[], options: RunOptions = {}): Promise<string> =>
  run('kubectl', words, { ...options, env: ENV });
export const helm = (words: readonly string[], options: RunOptions = {}): Promise<string> =>
  run('helm', words, { ...options, env: ENV });
export const attemptHelm = (words: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
  attempt('helm', words, { ...options, env: ENV });
export const attemptKubectl = (words: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
  attempt('kubectl', words, { ...options, env: ENV });

/**
 * Tests that need an API server, or a node with pods; skipped by name without one. Where a cluster is required they fail,
 * unless it is one that says that it has no node.
 */
export function withCluster(needs: 'api-server' | 'nodes', title: string, tests: () => void): void {
  const missing = missingFor(needs);
  describe(title, function suite() {
    if (missing === null) return tests();
    it(`needs a cluster: ${missing}`, function skipped() {
      if (isRequired && (kubeconfig === undefined || nodes !== '0')) {
        throw new Error(`ENGRAM_TEST_REQUIRE_CLUSTER is set, but ${missing}`);
      }
      this.skip();
    });
  });
}

function missingFor(needs: 'api-server' | 'nodes'): string | null {
  if (kubeconfig === undefined) return 'ENGRAM_TEST_KUBECONFIG is not set';
  if (needs === 'api-server') return null;
  if (nodes === undefined) return 'ENGRAM_TEST_CLUSTER_NODES is not set';
  return nodes === '0' ? 'this one has no node' : null;
}

/** A namespace of one test, which refuses pods that the restricted profile of Pod Security does not allow. */
export async function ownNamespace(prefix: string): Promise<{ readonly name: string } & AsyncDisposable> {
  const name = `${prefix}-${randomUUID().slice(0, 8)}`;
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  await kubectl(['create', '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }),
  });
  return {
    name,
    async [Symbol.asyncDispose]() {
      await attemptKubectl(['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
    },
  };
}
