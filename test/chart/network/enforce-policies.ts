import { setTimeout as sleep } from 'node:timers/promises';
import { connectToApiServer } from '../../operator/api-server.ts';
import { clusterProgram } from '../image.ts';
import { run } from '../programs.ts';
import { type Labelled, type NetworkedPod, type NetworkPolicy, policyRules, TABLE } from './policy-rules.ts';

/** For new pods: as long as this they are reached and reach as without policies. */
const INTERVAL_MS = 500;

/**
 * Enforces the NetworkPolicies of all namespaces on the cluster's node, whose network plugin enforces none, until it is
 * disposed. Fails, when it is disposed, with what kept it from doing so.
 */
export async function enforcePolicies(): Promise<AsyncDisposable> {
  const api = connectToApiServer(process.env['ENGRAM_TEST_KUBECONFIG'] ?? '');
  const node = (await run(clusterProgram, ['pid', 'node'])).trim();
  const nft = (input: string) => run('nsenter', ['--target', node, '--net', 'nft', '--file', '-'], { input });
  const list = async <Item>(path: string) => (await api.send('GET', path)).body['items'] as readonly Item[];
  let current = '';
  const enforce = async () => {
    const [namespaces, pods, policies] = await Promise.all([
      list<Labelled>('/api/v1/namespaces'),
      list<NetworkedPod>('/api/v1/pods'),
      list<NetworkPolicy>('/apis/networking.k8s.io/v1/networkpolicies'),
    ]);
    const rules = policyRules({ namespaces, pods, policies });
    if (rules === current) return;
    await nft(rules);
    current = rules;
  };
  const ending = new AbortController();
  await enforce();
  const loop = (async () => {
    while (!ending.signal.aborted) {
      await sleep(INTERVAL_MS, undefined, { signal: ending.signal }).catch(() => {});
      await enforce();
    }
  })();
  // Told of at the end, not as a rejection that nobody awaits.
  loop.catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      try {
        await loop;
      } finally {
        await nft(`delete table inet ${TABLE}\n`);
      }
    },
  };
}
