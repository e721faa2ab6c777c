import { parseArgs } from 'node:util';
import { createKubeClient } from '../runtime/http-kube-client.ts';
import { inClusterConnection } from '../runtime/kube-connection.ts';
import { createKubeTransport } from '../runtime/kube-transport.ts';
import { createRuntimeClock } from '../runtime/runtime-clock.ts';
import { FRAME_ANNOTATIONS } from '../tenant/names.ts';
import { mayUninstall } from './uninstall-guard.ts';

// The chart's pre-delete hook: `node operator/uninstall/main.ts --namespaces a,b --force --timeout 120` exits 1 while the
// operator must stay.
const { values } = parseArgs({
  options: {
    namespaces: { type: 'string', default: '' },
    force: { type: 'boolean', default: false },
    timeout: { type: 'string', default: '120' },
  },
});
const transport = createKubeTransport({
  // Its name in every cluster.
  connection: inClusterConnection({ host: 'kubernetes.default.svc', port: '443' }),
  clock: createRuntimeClock(),
  userAgent: 'engram-uninstall-guard',
});
const may = await mayUninstall({
  client: createKubeClient({ transport, fieldManager: 'engram-uninstall-guard' }),
  namespaces: values.namespaces.split(',').filter((namespace) => namespace !== ''),
  abandonAnnotation: FRAME_ANNOTATIONS.abandon,
  force: values.force,
  timeoutMs: Number(values.timeout) * 1000,
  say: (line) => process.stdout.write(`${line}\n`),
});
transport.close();
process.exitCode = may ? 0 : 1;
