// Keeps a mistake in one page from leaving an empty window.

import { Component, type ComponentChildren } from "preact";
import { Notice } from "./notice.tsx";

/** Shows what it holds, or that it failed. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice kind="danger">
        This page could not be shown.{" "}
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Notice>
    );
  }
}
