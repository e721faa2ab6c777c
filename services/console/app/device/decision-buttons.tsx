import { Button, Group } from '@mantine/core';

interface DecisionButtonsProps {
  readonly isSending: boolean;
  onDecide(approve: boolean): void;
}

/** Approve and Deny, for a program that asks to act as the person. */
export function DecisionButtons({ isSending, onDecide }: DecisionButtonsProps) {
  return (
    <Group>
      <Button loading={isSending} onClick={() => onDecide(true)}>
        Approve
      </Button>
      <Button variant="default" disabled={isSending} onClick={() => onDecide(false)}>
        Deny
      </Button>
    </Group>
  );
}
