import { Alert, Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { messageOf } from './api.ts';
import { IconAlertTriangle } from './icons.ts';

/** What a page shows while it waits. */
export function Waiting({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <Center py="xl" role="status" aria-label={label}>
      <Loader size="sm" />
    </Center>
  );
}

export function Failed({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title="This did not work" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {onRetry === undefined ? null : (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** What a list says when it has nothing yet, and what to do about it. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <Stack align="center" py={48} gap="xs">
      <Title order={2} size="h4" ta="center">
        {title}
      </Title>
      <Text c="dimmed" size="sm" maw={460} ta="center">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

export function say(message: string): void {
  notifications.show({ message, color: 'teal' });
}

export function complain(error: unknown): void {
  notifications.show({ title: 'This did not work', message: messageOf(error), color: 'red', autoClose: 10_000 });
}
