import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { problemsOf } from '../../../../test/support/config-problems.ts';
import { ConfigurationError, type Environment, loadConfig, readDotenv } from './load-config.ts';

const servers = {
  ENGRAM_MONGODB_URL: 'mongodb://localhost',
  ENGRAM_ELASTICSEARCH_URL: 'http://localhost:9200',
  ENGRAM_NEO4J_URL: 'bolt://localhost',
  ENGRAM_NATS_URL: 'nats://localhost',
};

describe('loadConfig', () => {
  it('starts with nothing set: embedded stores, all services, loopback, port 8000, no model', () => {
    const { config, warnings } = loadConfig({});
    expect(config).to.deep.include({
      port: 8000,
      host: '127.0.0.1',
      dataDir: resolve('data'),
      autoMigrations: true,
      corsOrigins: ['http://localhost:3000'],
      languageModel: null,
      embedding: null,
      jwtLifetimeSeconds: 3600,
      cookieName: 'auth_token',
      drainTimeoutMs: 8000,
      staleRunMinAgeMs: 3_600_000,
      acceptLocalFilePath: false,
      allowHttpRequests: true,
      allowCypherQuery: false,
    });
    expect(config.services).to.have.members(['auth', 'ingest', 'cognify', 'improve', 'search', 'integrations']);
    expect(new Set(Object.values(config.stores))).to.deep.equal(new Set(['embedded']));
    expect(warnings).to.deep.equal([]);
  });

  it('listens elsewhere in agent mode, unless it is told where', () => {
    expect(loadConfig({ COGNEE_AGENT_MODE: 'true' }).config).to.include({ agentMode: true, port: 8011 });
    expect(loadConfig({ COGNEE_AGENT_MODE: 'true', HTTP_API_PORT: '9001' }).config.port).to.equal(9001);
    const inCluster = loadConfig({ ...servers, ENGRAM_STORES: 'cluster', COGNEE_AGENT_MODE: 'true' });
    expect(inCluster.warnings.join()).to.contain('COGNEE_AGENT_MODE does not stop a process in a cluster');
  });

  it('has no secret by default', () => {
    const { config } = loadConfig({});
    expect(config.jwtSecret).to.equal(undefined);
    expect(config.defaultUserPassword).to.equal(undefined);
    expect(config.llmApiKey).to.equal(undefined);
  });

  it('reads root keys in either base64, and refuses one of another length without showing it', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const text = `2026:${bytes.toString('base64')}, old:${bytes.toString('base64url')}`;
    expect(loadConfig({ ENGRAM_ROOT_KEYS: text }).config.rootKeys).to.deep.equal([
      { id: '2026', bytes },
      { id: 'old', bytes },
    ]);
    const short = Buffer.alloc(31, 0xfb).toString('base64');
    const good = bytes.toString('base64');
    for (const wrong of [`a:${short}`, short, good, `a:${good}AAAA`, `a:${good},a:${good}`, `a b:${good}`, ',', 'a:']) {
      const [problem = '', ...others] = problemsOf({ ENGRAM_ROOT_KEYS: wrong });
      expect(others).to.deep.equal([]);
      expect(problem).to.match(/^ENGRAM_ROOT_KEYS: the value must list/);
      expect(problem).to.not.contain(short.slice(0, 20));
    }
  });

  it('reports every problem in one message, without the value of a secret', () => {
    const environment = {
      HTTP_API_PORT: '80x',
      ENGRAM_STORES: 'cloud',
      ENGRAM_UPLOAD_LIMIT_BYTES: 'much',
      ALLOW_HTTP_REQUESTS: 'perhaps',
      FASTAPI_USERS_JWT_SECRET: 'short',
      CORS_ALLOWED_ORIGINS: 'example.com',
    };
    const problems = problemsOf(environment);
    expect(problems).to.have.length(6);
    expect(problems.join('\n'))
      .to.include('HTTP_API_PORT: "80x" must be a whole number between 0 and 65535.')
      .and.include('ENGRAM_STORES: "cloud" must be one of embedded, cluster.')
      .and.include('FASTAPI_USERS_JWT_SECRET: the value must have at least 8 characters.')
      .and.not.include('short');
    expect(() => loadConfig(environment)).to.throw(/has 6 problems:\n {2}- HTTP_API_PORT/);
  });

  it('refuses to start with a learning rate or an influence out of its range', () => {
    for (const [name, value] of [
      ['IMPROVE_FEEDBACK_ALPHA', '0'],
      ['DEFAULT_FEEDBACK_INFLUENCE', '1.1'],
      ['PERSONALIZATION_INFLUENCE', '-0.1'],
      ['PREFERENCE_ALPHA', '0'],
      ['PREFERENCE_BETA', '1'],
    ] as const) {
      expect(() => loadConfig({ [name]: value }), name).to.throw(name);
    }
    expect(loadConfig({ PREFERENCE_ALPHA: '1', PREFERENCE_BETA: '0' }).config).to.include({ preferenceBeta: 0 });
  });

  it('lets the process win over the .env text, and counts an empty value as unset', () => {
    const { config } = loadConfig(
      { HTTP_API_PORT: '9001', LLM_MODEL: '' },
      { path: '.env', text: 'HTTP_API_PORT=9002\nHTTP_API_HOST="::1"\n' },
    );
    expect(config.port).to.equal(9001);
    expect(config.host).to.equal('::1');
    expect(config.llmModel).to.equal(undefined);
  });

  it('refuses a part of the services on embedded stores, under both names', () => {
    expect(problemsOf({ ENGRAM_SERVICES: 'search' }).join()).to.include('needs cluster stores');
    expect(problemsOf({ SERVICES: 'search, auth' }).join()).to.include('needs cluster stores');
    const partly = { ...servers, ENGRAM_SERVICES: 'search', ENGRAM_STORES: 'cluster', ENGRAM_BLOBS: 'embedded' };
    expect(problemsOf(partly)).to.have.length(1);
    expect(problemsOf({ ENGRAM_SERVICES: 'serch' }).join()).to.include('must be a list of auth, ');
    const { config } = loadConfig({ ...servers, ENGRAM_SERVICES: 'search', ENGRAM_STORES: 'cluster' });
    expect(config).to.deep.include({ services: ['search'], host: '0.0.0.0', autoMigrations: false });
  });

  it('overrides the preset store by store', () => {
    const { config } = loadConfig({ ...servers, ENGRAM_STORES: 'cluster', ENGRAM_BUS: 'embedded' });
    expect(config.stores).to.deep.equal({
      documents: 'cluster',
      blobs: 'cluster',
      index: 'cluster',
      graph: 'cluster',
      bus: 'embedded',
    });
  });

  it('reads who may sign up, in the words of the former name of the variable too', () => {
    const signUp = (environment: Environment) => loadConfig(environment).config.signUp;
    expect(signUp({})).to.equal('open');
    expect(signUp({ ENGRAM_SIGN_UP: 'Closed' })).to.equal('closed');
    expect(signUp({ ENGRAM_PUBLIC_SIGN_UP: 'false' })).to.equal('closed');
    expect(problemsOf({ ENGRAM_SIGN_UP: 'shut' })).to.deep.equal([
      'ENGRAM_SIGN_UP: "shut" must be one of open, closed.',
    ]);
  });

  it('names every server that a store in the cluster lacks, and no other', () => {
    expect(problemsOf({ ENGRAM_STORES: 'cluster' }).map((problem) => problem.split(':')[0])).to.deep.equal(
      Object.keys(servers),
    );
    expect(problemsOf({ ENGRAM_GRAPH: 'cluster' }).map((problem) => problem.split(':')[0])).to.deep.equal([
      'ENGRAM_NEO4J_URL',
    ]);
    expect(problemsOf({ ENGRAM_BLOBS: 'cluster' }).join()).to.include('ENGRAM_MONGODB_URL');
    expect(loadConfig({ ENGRAM_BLOBS: 'cluster', ENGRAM_S3_BUCKET: 'files' }).config.stores.blobs).to.equal('cluster');
  });

  it('reads sizes with units and seconds as milliseconds', () => {
    const { config } = loadConfig({
      ENGRAM_VECTOR_MEMORY: '1.5 GiB',
      ENGRAM_UPLOAD_LIMIT_BYTES: '2048',
      BACKGROUND_DRAIN_TIMEOUT_SECONDS: '0.5',
    });
    expect(config.vectorMemoryBytes).to.equal(1.5 * 2 ** 30);
    expect(config.uploadLimitBytes).to.equal(2048);
    expect(config.drainTimeoutMs).to.equal(500);
  });

  it('counts a model as configured by its key, endpoint or provider; the embedding key falls back to the LLM key', () => {
    expect(loadConfig({ LLM_MODEL: 'x' }).config.languageModel).to.equal(null);
    expect(loadConfig({ LLM_API_KEY: 'k' }).config.languageModel).to.deep.include({ provider: 'openai', apiKey: 'k' });
    expect(loadConfig({ LLM_PROVIDER: 'Anthropic' }).config.languageModel).to.deep.include({ provider: 'anthropic' });
    expect(loadConfig({ LLM_API_KEY: 'k' }).config.embedding).to.equal(null);
    expect(loadConfig({ LLM_API_KEY: 'k', EMBEDDING_MODEL: 'm' }).config.embedding).to.deep.include({ apiKey: 'k' });
    expect(loadConfig({ EMBEDDING_API_BASE: 'http://e/v1/' }).config.embedding).to.deep.include({
      endpoint: 'http://e/v1',
    });
  });

  it('takes the provider from the first part of the model name when it names one', () => {
    const providerOf = (variables: Record<string, string>) =>
      loadConfig({ LLM_API_KEY: 'k', ...variables }).config.languageModel?.provider;
    expect(providerOf({ LLM_MODEL: 'anthropic/claude-haiku-4-5' })).to.equal('anthropic');
    expect(providerOf({ LLM_MODEL: 'google/gemini-2.5-flash' })).to.equal('gemini');
    expect(providerOf({ LLM_MODEL: 'meta-llama/llama-3', LLM_ENDPOINT: 'http://r/v1' })).to.equal('openai');
    expect(providerOf({ LLM_MODEL: 'anthropic/x', LLM_PROVIDER: 'custom', LLM_ENDPOINT: 'http://r/v1' })).to.equal(
      'custom',
    );
    expect(providerOf({ LLM_MODEL: 'openai' })).to.equal('openai');
  });

  it('reads hosts as URLs spell them, with and without a port', () => {
    const hosts = (text: string) => loadConfig({ ENGRAM_TENANT_MODEL_HOSTS: text }).config.tenantModelHosts;
    expect(hosts('')).to.deep.equal([]);
    expect(hosts('VLLM.models.svc:8000, 10.0.0.7,[FD00:0::7]:080')).to.deep.equal([
      ...['vllm.models.svc:8000', '10.0.0.7', '[fd00::7]:80'],
    ]);
    for (const wrong of ['http://vllm', 'vllm/v1', 'vllm:0', 'vllm:65536', '*.svc', 'fd00::7', 'user@vllm', 'a b']) {
      expect(() => hosts(wrong), wrong).to.throw(`ENGRAM_TENANT_MODEL_HOSTS: "${wrong}" must list hosts`);
    }
  });

  it('refuses providers that it could not reach', () => {
    expect(problemsOf({ LLM_PROVIDER: 'bedrock' }).join()).to.include('LLM_PROVIDER: bedrock needs LLM_ENDPOINT');
    expect(problemsOf({ EMBEDDING_PROVIDER: 'fastembed' }).join()).to.include('EMBEDDING_PROVIDER: fastembed needs');
    expect(problemsOf({ EMBEDDING_PROVIDER: 'anthropic' }).join()).to.include('no embedding models');
    expect(loadConfig({ LLM_PROVIDER: 'llama_cpp', LLM_ENDPOINT: 'http://l/v1' }).config.languageModel).to.not.equal(
      null,
    );
  });

  it('warns about variables of cognee without effect, in one line for each reason, and about misspelt names', () => {
    const { warnings } = loadConfig({
      DATA_ROOT_DIRECTORY: '/x',
      ENGRAM_TEST_X: '1',
      LLM_ARGS: 'a',
      IMPROVE_REVIEW_CONFLICTS: 'true',
      ENGRAM_DATADIR: '/y',
      TELEMETRY_DISABLED: '1',
    });
    expect(warnings).to.have.length(3);
    expect(warnings.join('\n'))
      .to.include('Without effect: DATA_ROOT_DIRECTORY; ENGRAM_DATA_DIR is the one directory')
      .and.include('Without effect: IMPROVE_REVIEW_CONFLICTS, LLM_ARGS; this version does not support it.')
      .and.include('Did you mean ENGRAM_DATA_DIR?');
  });

  it('refuses a misspelling of what closes the server, and names what was meant', () => {
    for (const [name, meant] of [
      ['REQUIRE_AUTHENTIFICATION', 'REQUIRE_AUTHENTICATION'],
      ['REQUIRE_AUTHENTICATIONS', 'REQUIRE_AUTHENTICATION'],
      ['REQUIRE_AUTH', 'REQUIRE_AUTHENTICATION'],
      ['require_authentication', 'REQUIRE_AUTHENTICATION'],
      ['ENGRAM_REQUIRE_AUTHENTICATION', 'REQUIRE_AUTHENTICATION'],
      ['COGNEE_REQUIRE_AUTHENTICATION', 'REQUIRE_AUTHENTICATION'],
      ['ENABLE_BACKEND_ACCESS_CONTROLL', 'ENABLE_BACKEND_ACCESS_CONTROL'],
      ['ENGRAM_PUBLIC_SIGNUP', 'ENGRAM_PUBLIC_SIGN_UP'],
      ['ENGRAM_HOSTET', 'ENGRAM_HOSTED'],
    ] as const) {
      expect(problemsOf({ [name]: 'true' }), name).to.deep.equal([
        `${name}: there is no such setting. Did you mean ${meant}? Rename it or remove it.`,
      ]);
      expect(problemsOf({ [name]: '' }), name).to.deep.equal([]);
    }
  });

  it('warns about other misspelt names, and not about the names of other programs', () => {
    expect(loadConfig({ HTTP_API_PROT: '1', ENGRAM_LOG_LEVEL: 'debug', ENGRAM_XYZ: '1' }).warnings).to.deep.equal([
      'HTTP_API_PROT is not a setting of this version. Did you mean HTTP_API_PORT?',
      'ENGRAM_LOG_LEVEL is not a setting of this version. Did you mean LOG_LEVEL?',
      'ENGRAM_XYZ is not a setting of this version.',
    ]);
    const others = {
      PATH: '/bin',
      HOME: '/root',
      LANG: 'C',
      TERM: 'xterm',
      SHLVL: '1',
      PWD: '/',
      npm_lifecycle_event: 'start',
      HTTP_PROXY: 'p',
      http_proxy: 'p',
      PORT: '1',
      HOST: 'h',
      KUBERNETES_PORT: 'tcp://10.0.0.1:443',
      KUBERNETES_SERVICE_PORT_HTTPS: '443',
      CORS_ORIGINS: '*',
      SECRET: 's',
      OPENAI_API_KEY: 'k',
      NODE_ENV: 'x',
      ENGRAM_URL: 'http://h',
      ENGRAM_API_KEY: 'k',
      ENGRAM_TEST_NATS_URL: 'nats://h',
      ENGRAM_BENCH_DATA: '/d',
    };
    expect(loadConfig(others).warnings).to.deep.equal([]);
  });

  it('names the lines of a .env file that it cannot read, and shows nothing of them', () => {
    const text = '# settings\nHTTP_API_PORT=9002\n\nREQUIRE_AUTHENTICATION true\nsk-secret\n';
    const load = () => loadConfig({}, { path: '/srv/.env', text });
    expect(load)
      .to.throw(ConfigurationError, '2 problems')
      .with.property('message')
      .that.includes('/srv/.env, line 4: must be NAME=value')
      .and.includes('/srv/.env, line 5:')
      .and.not.includes('sk-secret');
  });

  it('warns about an embedding provider without its key', () => {
    const warningsOf = (variables: Environment) => loadConfig({ EMBEDDING_PROVIDER: 'openai', ...variables }).warnings;
    expect(warningsOf({}).join()).to.contain('EMBEDDING_PROVIDER: openai has no key');
    expect(warningsOf({ LLM_API_KEY: 'k' })).to.deep.equal([]);
    expect(warningsOf({ EMBEDDING_ENDPOINT: 'http://e/v1' })).to.deep.equal([]);
  });

  it('says that any origin is not allowed without authentication', () => {
    expect(loadConfig({ CORS_ALLOWED_ORIGINS: '*' }).warnings.join()).to.include(
      'has no effect without authentication',
    );
    expect(loadConfig({ CORS_ALLOWED_ORIGINS: '*', REQUIRE_AUTHENTICATION: 'true' }).warnings).to.deep.equal([]);
  });
});

describe('readDotenv', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'engram-env-'));
    mkdirSync(join(directory, '.git'));
    mkdirSync(join(directory, 'a', 'b'), { recursive: true });
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('finds the nearest .env up to the project root and not beyond it', () => {
    writeFileSync(join(directory, '.env'), 'HTTP_API_PORT=1');
    expect(readDotenv({}, join(directory, 'a', 'b'))).to.deep.equal({
      path: join(directory, '.env'),
      text: 'HTTP_API_PORT=1',
    });
    mkdirSync(join(directory, 'a', '.git'));
    expect(readDotenv({}, join(directory, 'a', 'b'))).to.equal(null);
  });

  it('reads the file that COGNEE_ENV_FILE names, which must exist', () => {
    writeFileSync(join(directory, 'other'), 'HTTP_API_PORT=2');
    expect(readDotenv({ COGNEE_ENV_FILE: 'other' }, directory)).to.deep.include({
      text: 'HTTP_API_PORT=2',
    });
    expect(() => readDotenv({ COGNEE_ENV_FILE: 'missing' }, directory)).to.throw(
      ConfigurationError,
      'cannot be read (ENOENT)',
    );
  });
});
