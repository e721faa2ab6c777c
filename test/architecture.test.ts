import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collections } from '../services/app/collections.ts';
import type { AnyOwnedCollection } from '../services/common/storage/ports/owned-collection.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const SERVICES = ['auth', 'ingest', 'cognify', 'improve', 'search', 'integrations'];

/** What each folder of services/common may import, besides itself. Everything else is a wrong arrow. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  domain: ['kernel'],
  ports: ['kernel', 'domain', 'storage/ports'],
  ranking: ['kernel', 'domain'],
  presenters: ['kernel', 'domain'],
  records: ['kernel', 'domain', 'ports', 'storage/ports', 'platform/async', 'platform/leases', 'text/statements'],
  text: ['domain'],
  'text/language': ['kernel'],
  'text/words': ['kernel', 'text/language'],
  'text/places': ['kernel'],
  'text/repetition': ['text/language'],
  'text/statements': ['kernel', 'text/language', 'text/words', 'text/places'],
  'text/chunking': ['kernel'],
  'text/ontology': ['kernel'],
  'text/archives': ['kernel'],
  'text/documents': ['kernel', 'ports', 'text/language', 'text/chunking', 'text/archives', 'platform/workers'],
  'text/extraction': ['kernel', 'domain', 'ports', 'text/language', 'text/words', 'text/places', 'platform/workers'],
  models: ['kernel', 'ports', 'platform/async'],
  'models/hashing': ['ports', 'text/language'],
  'models/providers': ['kernel', 'ports', 'platform/async'],
  'storage/ports': ['kernel', 'domain'],
  'storage/rules': ['kernel'],
  'storage/snapshots': ['kernel', 'domain', 'storage/ports'],
  'storage/documents': ['kernel', 'storage/ports', 'storage/rules', 'platform/async'],
  'storage/blobs': ['kernel', 'platform/async', 'storage/ports', 'storage/rules', 'storage/documents'],
  'storage/bus': ['kernel', 'platform/async', 'storage/ports', 'storage/rules'],
  'storage/cypher': ['kernel', 'domain', 'storage/ports'],
  'storage/graph': ['kernel', 'platform/async', 'domain', 'storage/cypher', 'storage/ports', 'storage/rules'],
  'storage/indexes': [
    ...['kernel', 'domain', 'platform/async', 'ranking'],
    ...['storage/cypher', 'storage/ports', 'storage/rules', 'storage/documents'],
  ],
  'storage/kafka': ['kernel', 'platform/async', 'storage/ports', 'storage/rules'],
  'platform/async': ['storage/ports'],
  'platform/workers': ['kernel'],
  'platform/config': ['kernel', 'domain'],
  'platform/observability': ['domain', 'ports', 'storage/ports'],
  'platform/messaging': ['kernel', 'domain', 'ports', 'storage/ports', 'platform/async', 'proto/gen'],
  'platform/http': [
    ...['kernel', 'domain', 'ports'],
    ...['platform/async', 'platform/config', 'platform/leases', 'platform/messaging', 'platform/observability'],
  ],
  'platform/lifecycle': ['platform/async', 'platform/http', 'platform/observability'],
  'platform/leases': ['kernel', 'ports', 'storage/ports', 'platform/async'],
  'platform/jobs': [
    ...['kernel', 'domain', 'ports', 'storage/ports', 'records'],
    ...['platform/async', 'platform/leases', 'platform/messaging'],
  ],
  'platform/events': [
    ...['kernel', 'ports', 'storage/ports'],
    ...['platform/async', 'platform/jobs', 'platform/leases', 'platform/messaging', 'platform/observability'],
  ],
  'platform/cloud-api': ['kernel', 'ports'],
  'platform/fetch': ['kernel', 'platform/async', 'ports'],
  'platform/mail': ['kernel', 'domain', 'ports'],
  'platform/secrets': ['kernel', 'ports'],
  'platform/system': ['kernel', 'ports'],
};

/** Implementations of ports: only what puts a process together may import them. */
const ADAPTERS = new Set([
  ...['models/hashing', 'models/providers'],
  ...['storage/documents', 'storage/blobs', 'storage/bus', 'storage/graph', 'storage/indexes', 'storage/kafka'],
  ...['platform/cloud-api', 'platform/fetch', 'platform/mail', 'platform/secrets', 'platform/system'],
]);

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
  { packageName: /^(koa|@koa\/router|busboy|ws|swagger-ui-dist)$/, home: /^services\/common\/platform\/http\// },
  { packageName: /^cli-progress$/, home: /^services\/cli\/progress\.ts$/ },
  { packageName: /^@modelcontextprotocol\//, home: /^services\/mcp\// },
  { packageName: /^stemmer$/, home: /^services\/common\/text\/language\/tokenize\.ts$/ },
  { packageName: /^nodemailer$/, home: /^services\/common\/platform\/mail\// },
  { packageName: /^@slack\//, home: /^services\/integrations\/providers\/slack-api\.ts$/ },
  { packageName: /^openid-client$/, home: /^services\/auth\/oidc\// },
  { packageName: /^node:sqlite$/, home: /^services\/common\/storage\// },
  { packageName: /^(ai|@ai-sdk\/.*)$/, home: /^services\/common\/models\/providers\// },
  ...Object.entries(DRIVERS).map(([store, packageName]) => ({
    packageName,
    home: new RegExp(
      `^((services/common/storage/(\\w+/)?|operator/stores/)(${store}|gridfs)/|services/integrations/providers/${store}\\.ts$)`,
    ),
  })),
  { packageName: /^@kubernetes\/client-node$/, home: /^operator\/kube-runtime\/kube-connection\.ts$/ },
];

/** The folders of search in the order in which a request passes through them: each may import those before it. */
const SEARCH_STEPS = ['retrieval', 'conversation', 'answers', 'types', 'recall', 'presenters', 'routes'];
const SEARCH_MODEL = /^services\/search\/(model|search-types)\.ts$/;

/** Folders that the operator may use; adapters only where it is put together. */
const OPERATOR_USES = [
  ...['kernel', 'domain', 'ports', 'storage/ports', 'storage/rules', 'proto/gen'],
  ...['platform/async', 'platform/config', 'platform/observability', 'platform/messaging', 'platform/lifecycle'],
];
const OPERATOR_COMPOSITION = /^operator\/(main\.ts|[^/]+\/main\.ts)$/;

const COMPOSITION = /^services\/(main\.ts|start\.mjs|app\/|cli\/)/;

/** The service that owns what the repositories of a folder of common/records keep, where the folder has another name. */
const RECORDS_OWNER: Readonly<Record<string, string>> = { budgets: 'auth', sessions: 'ingest' };

interface Import {
  readonly file: string;
  /** Path from the root for relative imports, package name otherwise. */
  readonly target: string;
  readonly relative: boolean;
  /** Of types alone. */
  readonly isType: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.endsWith('.d.ts') && !file.includes(`dist${sep}`))
    .map((file) => join(folder, file).split(sep).join('/'));
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function isOfTypes(statement: string): boolean {
  if (/^\s*(import|export) type\b/.test(statement)) return true;
  const names = /\{([^}]*)\}/
    .exec(statement)?.[1]
    ?.split(',')
    .map((name) => name.trim());
  return names?.every((name) => name === '' || name.startsWith('type ')) ?? false;
}

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
    return { file, target, relative, isType: isOfTypes(match[0]) };
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
/** The folder that a file belongs to; null for what belongs to a service. */
const folderOf = (path: string): string | null => {
  if (path.startsWith('proto/gen/')) return 'proto/gen';
  if (!path.startsWith('services/common/')) return null;
  const [, , folder = '', inner = ''] = path.split('/');
  const isDivided = ['models', 'platform', 'storage', 'text'].includes(folder);
  return isDivided && !inner.endsWith('.ts') ? `${folder}/${inner}` : folder;
};
const isAdapter = (path: string): boolean => ADAPTERS.has(folderOf(path) ?? '');
/** Of a service, behind its routes. */
const isUseCase = (path: string): boolean =>
  SERVICES.includes(area(path)) && path.split('/').length > 3 && !/\/(routes|presenters)\//.test(path);
const arrow = ({ file, target }: Import): string => `${file} -> ${target}`;

/** The imports as edges `from -> to` between the names of their files. */
function edgesOf(found: readonly { readonly file: string; readonly target: string }[]) {
  return (nameOf: (path: string) => string): ReadonlySet<string> =>
    new Set(
      found
        .map(({ file, target }) => [nameOf(file), nameOf(target)] as const)
        .filter(([from, to]) => from !== to)
        .map(([from, to]) => `${from} -> ${to}`),
    );
}

/** Names in the edges `from -> to` that a path leads back to, sorted. */
function cyclesOf(edges: ReadonlySet<string>): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const edge of edges) {
    const [from = '', to = ''] = edge.split(' -> ');
    targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const reaches = (from: string, wanted: string, seen: Set<string>): boolean =>
    (targets.get(from) ?? []).some((to) => {
      if (to === wanted) return true;
      if (seen.has(to)) return false;
      seen.add(to);
      return reaches(to, wanted, seen);
    });
  return [...targets.keys()].filter((name) => reaches(name, name, new Set())).toSorted();
}

/** An administrator of a store opens the client, and reads the errors of its driver, as the adapter does. */
function isOfSameStore(file: string, target: string): boolean {
  const store = /^operator\/stores\/([^/]+)\//.exec(file)?.[1];
  return store !== undefined && ['client', 'errors'].some((part) => target.endsWith(`/${store}/${store}-${part}.ts`));
}

/** The service that a file is of; null for common code and for what puts processes together. */
function serviceOf(file: string): string | null {
  if (SERVICES.includes(area(file))) return area(file);
  const folder = /^services\/common\/records\/(\w+)\//.exec(file)?.[1];
  const owner = RECORDS_OWNER[folder ?? ''] ?? folder ?? '';
  return SERVICES.includes(owner) ? owner : null;
}

/** Collections by the file that declares them. */
const declared = new Map<string, AnyOwnedCollection[]>();
const undeclared: string[] = [];
for (const file of files.filter((each) => !/\/testing\//.test(each))) {
  for (const [, type, name] of readFileSync(join(root, file), 'utf8').matchAll(
    /^(?:export )?const \w+: (Owned)?Collection<[^=]*> = \{\s*name: '(\w+)'/gm,
  )) {
    const collection = collections.find((each) => each.name === name);
    if (type === undefined || collection === undefined) undeclared.push(`${file}: ${name}`);
    else declared.set(file, [...(declared.get(file) ?? []), collection]);
  }
}

describe('architecture', () => {
  it('reads the imports of the services', () => {
    expect(files.length).to.be.greaterThan(50);
    expect(internal.length).to.be.greaterThan(100);
  });

  it('lets each common folder import only the folders below it', () => {
    const wrong = internal.filter(({ file, target }) => {
      const from = folderOf(file);
      const to = folderOf(target);
      if (from === null) return false;
      if (to === null) return true;
      return from !== to && !(MAY_IMPORT[from]?.includes(to) ?? false);
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

  it('lets each folder of search import only the steps before it, and the model', () => {
    const stepOf = (path: string) => SEARCH_STEPS.indexOf(/^services\/search\/(\w+)\//.exec(path)?.[1] ?? '');
    const wrong = internal.filter(({ file, target }) => {
      if (!target.startsWith('services/search/') || stepOf(file) < 0 || SEARCH_MODEL.test(target)) return false;
      // The files of the root put the steps together: only what stands behind them may import those.
      if (stepOf(target) < 0) return stepOf(file) < SEARCH_STEPS.indexOf('recall');
      return stepOf(target) > stepOf(file);
    });
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('gives every collection an owner, and lists it for every process', () => {
    expect(undeclared, 'add it to the collections.ts of its owner').to.deep.equal([]);
    expect([...declared.values()].flat()).to.have.members([...collections]);
  });

  it('lets no service open a collection of another one that does not name it', () => {
    const wrong = internal.flatMap(({ file, target, isType }) => {
      const service = serviceOf(file);
      if (service === null || isType || file.endsWith('/collections.ts')) return [];
      return (declared.get(target) ?? [])
        .filter(({ owner, writers = {}, readers = [] }) => {
          if (owner === service || 'every' in writers) return false;
          return !(service in writers) && !readers.some((reader) => reader === service);
        })
        .map(({ name }) => `${file} opens ${name} of ${declared.get(target)?.[0]?.owner}`);
    });
    expect(wrong, 'name it among the readers, or among the writers with the reason').to.deep.equal([]);
  });

  it('gives a reason for every writer of a collection beside its owner', () => {
    const wrong = collections.flatMap(({ name, owner, writers = {}, readers = [] }) => [
      ...Object.entries(writers)
        .filter(([service, reason]) => service === owner || !/\w{3,} \w+/.test(reason ?? ''))
        .map(([service]) => `${name}: ${service}`),
      ...readers.filter((service) => service === owner || service in writers).map((service) => `${name}: ${service}`),
    ]);
    expect(wrong).to.deep.equal([]);
  });

  it('lets only composition roots import adapters', () => {
    const wrong = internal.filter(
      ({ file, target }) => isAdapter(target) && !isAdapter(file) && !COMPOSITION.test(file),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('lets no service import the operator, and the operator only what it may of the services', () => {
    const wrong = [
      ...internal.filter(({ target }) => target.startsWith('operator/')),
      ...operatorImports.filter(({ file, target, relative }) => {
        if (!relative || !target.startsWith('services/')) return false;
        const layer = folderOf(target);
        if (isAdapter(target)) return !OPERATOR_COMPOSITION.test(file) && !isOfSameStore(file, target);
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

  it('has no circle of imports between files, type imports included', () => {
    expect(cyclesOf(edgesOf(internal)((path) => path))).to.deep.equal([]);
  });

  it('has no circle of folders within auth, cognify, improve or the operator', () => {
    for (const service of ['auth', 'cognify', 'improve']) {
      const isOf = (path: string) => path.startsWith(`services/${service}/`);
      const within = edgesOf(internal.filter(({ file, target }) => isOf(file) && isOf(target)));
      expect(cyclesOf(within((path) => path.split('/').slice(0, 3).join('/')))).to.deep.equal([]);
    }
    const withinOperator = edgesOf(
      operatorImports.filter(({ relative, target }) => relative && target.startsWith('operator/')),
    );
    const folderOfOperator = (path: string) => path.split('/').slice(0, -1).slice(0, 2).join('/');
    expect(cyclesOf(withinOperator((path) => path))).to.deep.equal([]);
    expect(cyclesOf(withinOperator(folderOfOperator))).to.deep.equal([]);
  });

  it('keeps the operator’s runtime free of its domain', () => {
    const wrong = operatorImports.filter(
      ({ file, target, relative }) =>
        file.startsWith('operator/kube-runtime/') &&
        relative &&
        !target.startsWith('operator/kube-runtime/') &&
        !['kernel', 'ports', 'storage/ports', 'platform/async', 'platform/observability'].includes(
          folderOf(target) ?? '',
        ),
    );
    expect(wrong.map(arrow)).to.deep.equal([]);
  });

  it('keeps use cases free of HTTP, Koa and drivers', () => {
    const wrong = imports.filter(
      ({ file, target, relative }) =>
        isUseCase(file) &&
        (relative
          ? folderOf(target) === 'platform/http' && !/\/(http-error|schema)\.ts$/.test(target)
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
    const folders = /^services\/(common\/(platform\/http|text)|cognify\/pipeline|ingest\/skills)\//;
    const found = files
      .filter((file) => folders.test(file))
      .filter((file) =>
        /\.(push|unshift)\(\.\.\.|Math\.(min|max)\(\.\.\./.test(readFileSync(join(root, file), 'utf8')),
      );
    expect(found, 'use append and smallest of services/common/kernel/long-lists.ts').to.deep.equal([]);
  });

  it('writes the properties of an object one by one, not several to a line by spreading a literal', () => {
    const written = [...files, ...operatorFiles, ...sourceFiles('test'), ...sourceFiles('services/console')];
    const found = written.filter((file) => /^\s*\.\.\.\{ /m.test(readFileSync(join(root, file), 'utf8')));
    expect(found).to.deep.equal([]);
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
        !file.startsWith('services/common/platform/config/') &&
        // Chooses what worker processes get of it.
        !file.startsWith('services/common/platform/workers/') &&
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
