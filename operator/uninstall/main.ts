import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FRAME_ANNOTATIONS } from '../api/names.ts';
import { createKubeClient } from '../kube-runtime/http-kube-client.ts';
import { isKubeError } from '../kube-runtime/kube-client.ts';
import { inClusterConnection } from '../kube-runtime/kube-connection.ts';
import { KINDS } from '../kube-runtime/kube-object.ts';
import { createKubeTransport } from '../kube-runtime/kube-transport.ts';
import { createRuntimeClock } from '../kube-runtime/runtime-clock.ts';
import { mayUninstall } from './uninstall-guard.ts';

// Pre-delete hook of the chart: exits 1 while the operator must stay. `--force`, or a ConfigMap `--marker` in the namespace
// `--home`, abandons the resources that wait: after a refused uninstall Helm accepts no other values for the release.
const { values } = parseArgs({
  options: {
    namespaces: { type: 'string', default: '' },
    force: { type: 'boolean', default: false },
    timeout: { type: 'string', default: '120' },
    marker: { type: 'string', default: 'engram-force-uninstall' },
    home: { type: 'string', default: 'default' },
  },
});
const marker = { name: values.marker, namespace: values.home };
const transport = createKubeTransport({
  // The same name in every cluster.
  connection: inClusterConnection({ host: 'kubernetes.default.svc', port: '443' }),
  clock: createRuntimeClock(),
  userAgent: 'engram-uninstall-guard',
});
const client = createKubeClient({ transport, fieldManager: 'engram-uninstall-guard' });
const isMarked = (await untilReached(() => client.get(KINDS.configMap, marker))) !== null;
const may = await mayUninstall({
  client,
  namespaces: values.namespaces.split(',').filter((namespace) => namespace !== ''),
  abandonAnnotation: FRAME_ANNOTATIONS.abandon,
  force: values.force || isMarked,
  forceCommand: `kubectl --namespace ${values.home} create configmap ${values.marker}`,
  timeoutMs: Number(values.timeout) * 1000,
  say: (line) => process.stdout.write(`${line}\n`),
});
// The marker is for this uninstall, not for the next release of the same name.
if (may && isMarked) await client.delete(KINDS.configMap, marker);
transport.close();
process.exitCode = may ? 0 : 1;

/** Retries for half a minute: NetworkPolicies may take effect for a new pod with a delay. */
async function untilReached<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const patientUntil = performance.now() + 30_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isKubeError(error, 0) || performance.now() > patientUntil) throw error;
      await sleep(500);
    }
  }
}
