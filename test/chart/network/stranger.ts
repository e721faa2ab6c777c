import { attemptKubectl, kubectl } from '../cluster.ts';
import { givenImage, imageInCluster } from '../image.ts';

/** A pod that is none of ours. */
interface Stranger extends AsyncDisposable {
  /** Whether it gets a connection. */
  reaches(host: string, port: number): Promise<boolean>;
}

const CONNECT = `
const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port: Number(port), timeout: 5000 });
const end = (answer) => { console.log(answer); process.exit(); };
socket.on('connect', () => end('reached')).on('timeout', () => end('refused')).on('error', (error) => end(error.code));`;

/** What a policy answers, or the network where nobody does. A name that is not found, for example, is neither. */
const REFUSED = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'refused'];

export async function startStranger(
  namespace: string,
  labels: { readonly name: string; readonly client?: string },
): Promise<Stranger> {
  const { registry, repository, tag } = givenImage('ENGRAM_TEST_IMAGE') ?? (await imageInCluster());
  const { name } = labels;
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const command = ['node', '-e', 'setInterval(() => {}, 1e6); process.on("SIGTERM", () => process.exit())'];
  const container = { name: 'stranger', image: `${registry}/${repository}:${tag}`, command, securityContext };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: { containers: [container] } };
  const place = ['--namespace', namespace];
  await kubectl(['create', ...place, '--filename', '-'], { input: JSON.stringify(pod) });
  await kubectl(['wait', `pod/${name}`, ...place, '--for=condition=Ready', '--timeout=60s']);
  return {
    async reaches(host, port) {
      const words = ['exec', name, ...place, '--', 'node', '-e', CONNECT, host, String(port)];
      const answer = (await kubectl(words)).trim();
      if (answer !== 'reached' && !REFUSED.includes(answer)) throw new Error(`${host}:${port}: ${answer}`);
      return answer === 'reached';
    },
    async [Symbol.asyncDispose]() {
      await attemptKubectl(['delete', 'pod', name, ...place, '--wait=false', '--ignore-not-found']);
    },
  };
}
