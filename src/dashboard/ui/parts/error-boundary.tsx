// Catches errors that a page throws while it renders, so that the window does not stay empty.

import { Component, type ComponentChildren } from "preact";
import { Notice } from "./notice.tsx";

/** Renders its children, or a notice if they threw an error. */
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
