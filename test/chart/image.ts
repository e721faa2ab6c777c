import { existsSync } from 'node:fs';
import { copyFile, glob, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** `../shared/cluster/cluster` */
export const clusterProgram = fileURLToPath(new URL('../../../shared/cluster/cluster', import.meta.url));

const MINUTES = 60_000;

/** Parts of an image's name as the chart takes them. */
export interface Image {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

/**
 * The image of this tree, in the cluster's node: built from the Dockerfile, unless `ENGRAM_TEST_IMAGE` names one that is there
 * (`localhost/engram/engram:dev`).
 */
export async function imageInCluster(): Promise<Image> {
  const given = process.env['ENGRAM_TEST_IMAGE'];
  if (given !== undefined) return partsOf(given);
  const base = (await run(clusterProgram, ['node-image'], { timeoutMs: 5 * MINUTES })).trim();
  const npmrc = `${homedir()}/.npmrc`;
  const secret = existsSync(npmrc) ? ['--secret', `id=npmrc,src=${npmrc}`] : [];
  const words = ['bud', '--isolation', 'chroot', ...secret, '--build-arg', `NODE_IMAGE=${base}`, '--tag'];
  await run('buildah', [...words, 'engram/engram:test', ROOT], { timeoutMs: 8 * MINUTES });
  await run(clusterProgram, ['load', 'engram/engram:test'], { timeoutMs: 5 * MINUTES });
  // For the other suites of this run.
  process.env['ENGRAM_TEST_IMAGE'] = 'localhost/engram/engram:test';
  return partsOf('localhost/engram/engram:test');
}

/**
 * An image of the NATS server that ../shared/backends runs, for the chart's own NATS: no registry is there for the official
 * one. Null where that server was not built.
 */
export async function natsImageInCluster(): Promise<Image | null> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const home = process.env['ENGRAM_BACKENDS_HOME'] ?? join(cache, 'engram-backends');
  const [program] = await Array.fromAsync(glob(join(home, 'bin', 'nats-server-*')));
  if (program === undefined) return null;
  const base = (await run(clusterProgram, ['node-image'], { timeoutMs: 5 * MINUTES })).trim();
  const folder = await mkdtemp(join(tmpdir(), 'engram-nats-image-'));
  try {
    await copyFile(program, join(folder, 'nats-server'));
    await writeFile(join(folder, 'Dockerfile'), `FROM ${base}\nCOPY nats-server /usr/local/bin/nats-server\n`);
    await run('buildah', ['bud', '--isolation', 'chroot', '--tag', 'engram/nats:test', folder]);
    await run(clusterProgram, ['load', 'engram/nats:test'], { timeoutMs: 5 * MINUTES });
  } finally {
    await rm(folder, { recursive: true });
  }
  return { registry: 'localhost', repository: 'engram/nats', tag: 'test' };
}

/** Lets pods reach ports of this machine's loopback at `host.cluster.internal`. */
export async function expose(ports: readonly number[]): Promise<void> {
  await run(clusterProgram, ['expose', ...ports.map(String)]);
}

function partsOf(name: string): Image {
  const {
    registry = '',
    repository = '',
    tag = '',
  } = /^(?<registry>[^/]+)\/(?<repository>[^:]+):(?<tag>.+)$/.exec(name)?.groups ?? {};
  if (repository === '') throw new Error(`ENGRAM_TEST_IMAGE: ${name} is no <registry>/<name>:<tag>`);
  return { registry, repository, tag };
}
