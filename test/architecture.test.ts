import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('..', import.meta.url));

const SERVICES = ['auth', 'ingest', 'cognify', 'improve', 'search', 'integrations'];

/** What each layer of services/common may import, besides itself. Everything else is a wrong arrow. */
const COMMON_LAYERS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  language: ['domain'],
  workers: ['domain'],
  ports: ['domain'],
  repositories: ['domain', 'ports'],
  contracts: [],
  messaging: ['contracts', 'domain', 'ports'],
  config: ['domain'],
  observability: ['domain', 'ports'],
  runs: ['domain', 'ports', 'repositories', 'messaging', 'observability'],
  snapshots: ['domain', 'ports'],
  documents: ['domain', 'ports', 'language', 'workers'],
  extraction: ['domain', 'ports', 'language', 'repositories', 'workers'],
  http: ['domain', 'ports', 'messaging', 'config', 'observability'],
  lifecycle: ['domain', 'ports', 'http', 'observability'],
  adapters: ['domain', 'ports', 'language', 'documents', 'observability'],
};

/** What talks to a store, by the folder of its adapter and of its administrator. */
const DRIVERS = {
  mongodb: /^mongodb$/,
  elasticsearch: /^@elastic\//,
  neo4j: /^neo4j-driver$/,
  nats: /^nats$/,
  s3: /^@aws-sdk\//,
  kafka: /^kafkajs$/,
} as const;

/** Outside packages that belong to one place only. */
const PACKAGE_HOMES: readonly { readonly packageName: RegExp; readonly home: RegExp }[] = [
  { packageName: /^(koa|@koa\/router|busboy|ws|swagger-ui-dist)$/, home: /^services\/common\/http\// },
  { packageName: /^cli-progress$/, home: /^services\/cli\/progress\.ts$/ },
  { packageName: /^stemmer$/, home: /^services\/common\/language\/porter-stem\.ts$/ },
  { packageName: /^nodemailer$/, home: /^services\/common\/adapters\/smtp\// },
  { packageName: /^openid-client$/, home: /^services\/auth\/oidc\// },
  { packageName: /^node:sqlite$/, home: /^services\/common\/adapters\// },
  { packageName: /^(ai|@ai-sdk\/.*)$/, home: /^services\/common\/adapters\// },
  ...Object.entries(DRIVERS).map(([store, packageName]) => ({
    packageName,
    home: new RegExp(`^(services/common/adapters|operator/stores)/${store}/`),
  })),
  { packageName: /^@kubernetes\/client-node$/, home: /^operator\/runtime\/kube-connection\.ts$/ },
];

/** Layers of services/common that the operator may use; adapters only where it is put together. */
const OPERATOR_USES = ['domain', 'ports', 'config', 'observability', 'contracts', 'messaging', 'lifecycle'];
const OPERATOR_COMPOSITION = /^operator\/(main\.ts|[^/]+\/main\.ts)$/;

const COMPOSITION = /^services\/(main\.ts|registry\.ts|start\.mjs|loading\.mjs|compile-ahead\.mjs|composition\/|cli\/)/;

interface Import {
  readonly file: string;
  /** Path from the root for relative imports, package name otherwise. */
  readonly target: string;
  readonly relative: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.endsWith('.d.ts') && !file.includes(`dist${sep}`))
    .map((file) => join(folder, file).split(sep).join('/'));
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const relative = specifier.startsWith('.');
    const target = relative
      ? normalize(join(dirname(file), specifier))
          .split(sep)
          .join('/')
      : specifier;
    return { file, target, relative };
  });
}

const files = sourceFiles('services').filter(
  (file) => !file.endsWith('.test.ts') && !file.startsWith('services/console/'),
);
const operatorFiles = sourceFiles('operator').filter((file) => !file.endsWith('.test.ts'));
const operatorImports = operatorFiles.flatMap(importsOf);
const imports = [...files.flatMap(importsOf), ...operatorImports];
const internal = imports.filter(({ relative, file }) => relative && file.startsWith('services/'));

const area = (path: string): string => path.split('/')[1] ?? '';
const commonLayer = (path: string): string | null =>
  path.startsWith('services/common/') ? (path.split('/')[2] ?? null) : null;
const arrow = ({ file, target }: Import): string => `${file} -> ${target}`;

/** An administrator of a store reads the errors of its driver as the adapter does. */
function isOfSameStore(file: string, target: string): boolean {
  const store = /^operator\/stores\/([^/]+)\//.exec(file)?.[1];
  return store !== undefined && target === `services/common/adapters/${store}/${store}-failures.ts`;
}

describe('architecture', () => {
  it('reads the imports of the services', () => {
    expect(files.length).to.be.greaterThan(50);
    expect(internal.length).to.be.greaterThan(100);
  });

  it('lets each common layer import only the layers below it', () => {
    const wrong = internal.filter(({ file, target }) => {
      const from = commonLayer(file);
      const to = commonLayer(target);
      if (from === null) return false;
      if (to === null) return true;
      return from !== to && !(COMMON_LAYERS[from]?.includes(to) ?? false);
    });
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('lets no service import another service', () => {
    const wrong = internal.filter(
      ({ file, target }) =>
        SERVICES.includes(area(file)) && SERVICES.includes(area(target)) && area(file) !== area(target),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('lets only composition roots import adapters', () => {
    const wrong = internal.filter(
      ({ file, target }) =>
        commonLayer(target) === 'adapters' && commonLayer(file) !== 'adapters' && !COMPOSITION.test(file),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('lets no service import the operator, and the operator only what it may of the services', () => {
    const wrong = [
      ...internal.filter(({ target }) => target.startsWith('operator/')),
      ...operatorImports.filter(({ file, target, relative }) => {
        if (!relative || !target.startsWith('services/')) return false;
        const layer = commonLayer(target);
        if (layer === 'adapters') return !OPERATOR_COMPOSITION.test(file) && !isOfSameStore(file, target);
        return layer === null || !OPERATOR_USES.includes(layer);
      }),
    ];
    expect(operatorImports.length).to.be.greaterThan(100);
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('lets the operator reach stores by their port, and only where it is put together by what implements it', () => {
    const isImplementation = (path: string) => /^operator\/stores\/[^/]+\//.test(path);
    const isOpening = (path: string) => path === 'operator/stores/dedicated-stores.ts';
    const wrong = operatorImports.filter(({ file, target, relative }) => {
      if (!relative) return false;
      if (file.startsWith('operator/stores/') && target.startsWith('operator/')) {
        if (!target.startsWith('operator/stores/')) return true;
        return isImplementation(target) && dirname(target) !== dirname(file) && !isOpening(file);
      }
      return (isImplementation(target) || isOpening(target)) && !OPERATOR_COMPOSITION.test(file) && !isOpening(file);
    });
    expect(operatorFiles.filter(isImplementation).length).to.be.greaterThan(6);
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('keeps the operator’s runtime free of its domain', () => {
    const wrong = operatorImports.filter(
      ({ file, target, relative }) =>
        file.startsWith('operator/runtime/') &&
        relative &&
        !target.startsWith('operator/runtime/') &&
        !['ports', 'observability'].includes(commonLayer(target) ?? ''),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('keeps use cases free of HTTP, Koa and drivers', () => {
    const wrong = imports.filter(
      ({ file, target, relative }) =>
        file.includes('/usecases/') &&
        (relative
          ? commonLayer(target) === 'http' && !target.endsWith('http-error.ts')
          : /^(koa|@koa|ws|busboy)/.test(target)),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('keeps each outside package in its one home', () => {
    const wrong = imports.filter(
      ({ file, target, relative }) =>
        !relative && PACKAGE_HOMES.some(({ packageName, home }) => packageName.test(target) && !home.test(file)),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('passes no list of what came from outside as arguments, of which a call takes about a hundred thousand', () => {
    const folders =
      /^services\/(common\/(http|language|documents|extraction|domain\/chunking)|cognify\/pipeline|ingest\/skills)\//;
    const found = files
      .filter((file) => folders.test(file))
      .filter((file) =>
        /\.(push|unshift)\(\.\.\.|Math\.(min|max)\(\.\.\./.test(readFileSync(join(root, file), 'utf8')),
      );
    expect(found, 'use append and smallest of services/common/domain/long-lists.ts').to.deep.equal([]);
  });

  it('names each dependency with one exact version', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect(ranges).to.deep.equal([]);
  });

  it('reads the environment in the configuration and the composition root only', () => {
    const wrong = [...files, ...operatorFiles].filter(
      (file) =>
        !file.startsWith('services/common/config/') &&
        // Chooses what worker processes get of it.
        !file.startsWith('services/common/workers/') &&
        !COMPOSITION.test(file) &&
        /\bprocess\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('keeps the top level to what the project is made of', () => {
    const allowed = [
      'package.json',
      'package-lock.json',
      'services',
      'operator',
      'charts',
      'crds',
      'proto',
      'test',
      'skaffold.yaml',
      'README.md',
      'LICENSE',
      'Dockerfile',
      'tsconfig.json',
      'biome.json',
    ];
    // What git holds: users keep files of their own beside it.
    const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
    const entries = new Set(tracked.map((path) => path.split('/')[0] ?? ''));
    const extra = [...entries].filter((entry) => !entry.startsWith('.') && !allowed.includes(entry));
    expect(extra).to.deep.equal([]);
  });
});
