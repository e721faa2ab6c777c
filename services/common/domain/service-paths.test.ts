import { expect } from 'chai';
import { SERVICE_NAMES, SERVICE_PATHS, serviceOfPath } from './service-paths.ts';

describe('serviceOfPath', () => {
  it('gives a prefix and what is below it to its service', () => {
    expect(serviceOfPath('/api/v1/add')).to.equal('ingest');
    expect(serviceOfPath('/api/v1/add/')).to.equal('ingest');
    expect(serviceOfPath('/api/v1/datasets/0/data')).to.equal('ingest');
    expect(serviceOfPath('/api/v1/cognify/subscribe/0')).to.equal('cognify');
    expect(serviceOfPath('/api/v1/visualize/json')).to.equal('search');
  });

  it('lets a longer prefix win', () => {
    expect(serviceOfPath('/api/v1/datasets/status/progress')).to.equal('cognify');
    expect(serviceOfPath('/api/v1/activity/pipeline-runs')).to.equal('cognify');
    expect(serviceOfPath('/api/v1/activity/jobs/0/replay')).to.equal('cognify');
    expect(serviceOfPath('/api/v1/activity/usage')).to.equal('auth');
    expect(serviceOfPath('/api/v1/activity/events')).to.equal('ingest');
  });

  it('gives everything else to auth, a longer word of the same beginning too', () => {
    expect(serviceOfPath('/')).to.equal('auth');
    expect(serviceOfPath('/health')).to.equal('auth');
    expect(serviceOfPath('/api/v1/address')).to.equal('auth');
    expect(serviceOfPath('/api/v1/auth/login')).to.equal('auth');
  });

  it('knows every service and gives no prefix twice', () => {
    expect(Object.keys(SERVICE_PATHS).sort()).to.deep.equal([...SERVICE_NAMES].sort());
    const all = Object.values(SERVICE_PATHS).flat();
    expect(new Set(all).size).to.equal(all.length);
  });
});
