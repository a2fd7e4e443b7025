// Keeps navigation and key when a page fails: the fault is shown in its place.
import { Component, type ComponentChildren } from 'preact';
import { Fault } from './fault.tsx';

interface Props {
  /** The address that is shown. After a fault, another address is tried again. */
  readonly address: string;
  readonly children: ComponentChildren;
}

interface State {
  readonly fault: { readonly address: string; readonly message: string } | undefined;
}

export class Guard extends Component<Props, State> {
  override state: State = { fault: undefined };

  override componentDidCatch(error: Error): void {
    this.setState({ fault: { address: this.props.address, message: error.message } });
  }

  override render({ address, children }: Props, { fault }: State): ComponentChildren {
    if (fault?.address !== address) return children;
    return <Fault title="This page cannot be shown">{fault.message}. Check the address, or go to another page.</Fault>;
  }
}
