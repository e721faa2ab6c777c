import { expect } from 'chai';
import { loadConfig } from '../../common/platform/config/load-config.ts';
import { postureBehind } from './run-cluster.ts';

const postureOf = (variables: Readonly<Record<string, string>>) => postureBehind(loadConfig(variables).config);

describe('services behind the path router', () => {
  it('ask for credentials where its address is one that others reach, although they listen on loopback', () => {
    for (const variables of [
      { HTTP_API_HOST: '0.0.0.0' },
      { HTTP_API_HOST: '127.0.0.1', REQUIRE_AUTHENTICATION: 'true' },
    ]) {
      expect(postureOf(variables)).to.include({ REQUIRE_AUTHENTICATION: 'true' });
    }
    expect(postureOf({ HTTP_API_HOST: '127.0.0.1' })).to.deep.equal({});
  });

  it('believe whose address the router tells, and the proxies in front of it', () => {
    const behind = postureOf({ HTTP_API_HOST: '0.0.0.0', ENGRAM_TRUSTED_PROXIES: '10.0.0.0/8' });
    expect(behind).to.include({ ENGRAM_TRUSTED_PROXIES: '10.0.0.0/8,127.0.0.1' });
  });
});
