import { expect } from 'chai';
import { loadConfig } from '../../common/config/load-config.ts';
import { postureBehind } from './run-cluster.ts';

const postureOf = (variables: Readonly<Record<string, string>>) => postureBehind(loadConfig(variables).config);

describe('services behind the path router', () => {
  it('ask for credentials where its address is one that others reach, although they listen on loopback', () => {
    expect(postureOf({ HTTP_API_HOST: '0.0.0.0' })).to.deep.equal({ REQUIRE_AUTHENTICATION: 'true' });
    expect(postureOf({ HTTP_API_HOST: '127.0.0.1', REQUIRE_AUTHENTICATION: 'true' })).to.deep.equal({
      REQUIRE_AUTHENTICATION: 'true',
    });
    expect(postureOf({ HTTP_API_HOST: '127.0.0.1' })).to.deep.equal({});
  });
});
