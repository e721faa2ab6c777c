import { expect } from 'chai';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { backendsOf, storesOf } from './installation.ts';

const configOf = (variables: Readonly<Record<string, string>>) => loadConfig(variables).config;

describe('installation of the operator', () => {
  it('routes to the Services of the chart, or to configured ones', () => {
    const usual = backendsOf(configOf({ POD_NAMESPACE: 'memory' }));
    expect(usual).to.deep.include({ namespace: 'memory', port: 80 });
    expect(usual.services).to.include({ auth: 'engram-auth', search: 'engram-search' });
    const named = backendsOf(
      configOf({ ENGRAM_OPERATOR_SERVICES: 'auth=rel-auth, search=rel-search', ENGRAM_OPERATOR_SERVICE_PORT: '8000' }),
    );
    expect(named.services).to.include({ auth: 'rel-auth', search: 'rel-search', ingest: 'engram-ingest' });
    expect(named.port).to.equal(8000);
    for (const entry of ['auth', 'nobody=x', 'auth=', 'auth=a=b']) {
      expect(() => backendsOf(configOf({ ENGRAM_OPERATOR_SERVICES: entry }))).to.throw('ENGRAM_OPERATOR_SERVICES');
    }
  });

  it('lists the stores with their isolation', () => {
    const driverOf = (variables: Readonly<Record<string, string>>) =>
      storesOf(configOf(variables)).find(({ role }) => role === 'Blobs')?.driver;
    expect([driverOf({}), driverOf({ ENGRAM_S3_BUCKET: 'files' })]).to.deep.equal(['gridfs', 's3']);
    expect(storesOf(configOf({})).map(({ isolation }) => isolation)).to.include.members(['Label', 'Index']);
  });
});
