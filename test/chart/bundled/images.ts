import { cp, glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { backendsHome, buildInCluster, type Image } from '../image.ts';

const FOLDER = import.meta.dirname;

interface BundledImages {
  readonly mongodb: Image;
  readonly elasticsearch: Image;
  readonly neo4j: Image;
}

/** Images of the servers that ../shared/backends runs, in the form of the official ones, which cannot be pulled here. */
export async function bundledImagesInCluster(): Promise<BundledImages> {
  const home = backendsHome();
  const jdk = { from: await newestJdk(), to: 'jdk' };
  const mongod = { from: await one(join(home, 'bin/mongod-*')), to: 'mongod' };
  const distribution = { from: await one(join(home, 'elasticsearch/elasticsearch-*')), to: 'elasticsearch' };
  const jars = (await readFile(await one(join(home, 'neo4j/classpath-*')), 'utf8')).trim().split(':');
  return {
    mongodb: await build('mongodb', [mongod]),
    elasticsearch: await build('elasticsearch', [distribution, jdk]),
    neo4j: await build('neo4j', [jdk, ...jars.map((jar) => ({ from: jar, to: `lib/${basename(jar)}` }))]),
  };
}

interface Part {
  readonly from: string;
  readonly to: string;
}

async function build(store: string, parts: readonly Part[]): Promise<Image> {
  const context = await mkdtemp(join(tmpdir(), `engram-${store}-image-`));
  try {
    for (const { from, to } of [
      ...parts,
      { from: join(FOLDER, `${store}-entrypoint.sh`), to: `${store}-entrypoint.sh` },
    ]) {
      await cp(from, join(context, to), { recursive: true, dereference: true });
    }
    return await buildInCluster(`engram/${store}:test`, context, join(FOLDER, `${store}.Dockerfile`));
  } finally {
    await rm(context, { recursive: true });
  }
}

async function one(pattern: string): Promise<string> {
  const [found] = await Array.fromAsync(glob(pattern));
  if (found === undefined)
    throw new Error(`No ${pattern}: start mongodb, neo4j and elasticsearch of ../shared/backends.`);
  return found;
}

/** The one that ../shared/backends runs Elasticsearch with. */
async function newestJdk(): Promise<string> {
  const found: { readonly folder: string; readonly major: number }[] = [];
  for await (const release of glob(['/usr/lib/jvm/*/release', '/opt/java/*/release'])) {
    const major = Number(/^JAVA_VERSION="(\d+)/m.exec(await readFile(release, 'utf8'))?.[1] ?? 0);
    found.push({ folder: release.slice(0, -'/release'.length), major });
  }
  const newest = found.toSorted((one, other) => other.major - one.major)[0];
  if (newest === undefined || newest.major < 21) throw new Error('No JDK of 21 or newer, which Elasticsearch needs.');
  return newest.folder;
}
