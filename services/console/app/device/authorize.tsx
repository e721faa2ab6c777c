import { Paper, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { engram } from '../api.ts';
import { DEFAULT_LIMITS, LimitFields, limitsOf, PERMISSIONS } from '../people/key-limits.tsx';
import { meQuery } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { Failed, Waiting } from '../states.tsx';
import { DecisionButtons } from './decision-buttons.tsx';

const route = getRouteApi('/authorize');

/** Here a person lets a program in that sent them, such as an agent that speaks MCP (OAuth 2.1). */
export function AuthorizePage() {
  const request = route.useSearch();
  const { client_id = '', redirect_uri = '' } = request;
  const me = useQuery(meQuery);
  const asked = useQuery({
    queryKey: ['authorization', client_id, redirect_uri],
    queryFn: () => engram.get('/api/v1/auth/oauth/authorization', { query: { client_id, redirect_uri } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Stack maw={520}>
      <PageTitle title="Let a program in" />
      {asked.isPending ? <Waiting /> : null}
      {asked.isError ? <Failed error={asked.error} /> : null}
      {asked.data === undefined ? null : (
        <Decision
          request={request}
          program={asked.data.client_name}
          target={placeOf(asked.data.redirect_uri)}
          email={me.data?.email ?? ''}
        />
      )}
    </Stack>
  );
}

interface DecisionProps {
  readonly request: Readonly<Record<string, string>>;
  readonly program: string;
  readonly target: string;
  readonly email: string;
}

function Decision({ request, program, target, email }: DecisionProps) {
  const [error, setError] = useState<Error | null>(null);
  const [isSending, setSending] = useState(false);
  const wanted = (request['scope'] ?? '').split(' ');
  const permissions = PERMISSIONS.filter((each) => wanted.includes(each));
  const form = useForm({
    initialValues: { ...DEFAULT_LIMITS, permissions: permissions.length === PERMISSIONS.length ? [] : permissions },
  });
  const decide = async (approve: boolean) => {
    setSending(true);
    setError(null);
    try {
      const { lifetime, ...limits } = limitsOf(form.values);
      const { client_id = '', redirect_uri = '', response_type = '', code_challenge = '', state, resource } = request;
      const { redirect_to: target } = await engram.post('/api/v1/auth/oauth/authorization', {
        body: {
          client_id,
          redirect_uri,
          response_type,
          code_challenge,
          approve,
          ...limits,
          code_challenge_method: request['code_challenge_method'] as 'S256',
          state: state ?? null,
          resource: resource ?? null,
          ...(lifetime === null ? {} : { expires_in: lifetime }),
        },
      });
      window.location.assign(target);
    } catch (failure) {
      setError(failure as Error);
      setSending(false);
    }
  };
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Text>
          <b>{program}</b> asks to act as <b>{email}</b>.
        </Text>
        <Text size="sm" c="dimmed">
          The name is its own word. After your decision the browser goes to <b>{target}</b>. Approve only what you have
          just started yourself. It gets an API key of yours, which you can delete under People.
        </Text>
        <LimitFields form={form} />
        {error === null ? null : <Failed error={error} />}
        <DecisionButtons isSending={isSending} onDecide={(approve) => void decide(approve)} />
      </Stack>
    </Paper>
  );
}

/** The host of an address, or the program that its scheme belongs to. */
function placeOf(address: string): string {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:') return hostname;
  return protocol === 'http:' ? 'a program on this machine' : `the program of ${protocol.slice(0, -1)}`;
}
