CREATE TABLE `alerts` (
	`event` text NOT NULL,
	`target` text NOT NULL,
	`account_id` text,
	`body` text NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`event`, `target`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `alerts_due` ON `alerts` (`due_at`);--> statement-breakpoint
CREATE INDEX `alerts_expiry` ON `alerts` (`expires_at`);--> statement-breakpoint
CREATE INDEX `alerts_account` ON `alerts` (`account_id`,`created_at`);