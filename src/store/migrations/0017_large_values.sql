CREATE TABLE `large_value_parts` (
	`value_id` text NOT NULL,
	`seq` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`value_id`, `seq`),
	FOREIGN KEY (`value_id`) REFERENCES `large_values`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `large_values` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`bytes` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `large_values_expiry` ON `large_values` (`expires_at`);--> statement-breakpoint
CREATE INDEX `large_values_account` ON `large_values` (`account_id`);--> statement-breakpoint
ALTER TABLE `responses` ADD `value_id` text;--> statement-breakpoint
ALTER TABLE `thread_items` ADD `value_id` text;--> statement-breakpoint
ALTER TABLE `threads` ADD `value_id` text;--> statement-breakpoint
CREATE TRIGGER large_values_stored AFTER INSERT ON large_values BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, NEW.bytes)
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER large_values_removed AFTER DELETE ON large_values BEGIN
  UPDATE account_storage SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER responses_value_named AFTER INSERT ON responses WHEN (NEW.value_id IS NOT NULL) BEGIN
  UPDATE large_values SET expires_at = NULL WHERE id = NEW.value_id;
END;--> statement-breakpoint
CREATE TRIGGER responses_value_removed AFTER DELETE ON responses WHEN (OLD.value_id IS NOT NULL) BEGIN
  DELETE FROM large_values WHERE id = OLD.value_id;
END;--> statement-breakpoint
CREATE TRIGGER threads_value_named AFTER INSERT ON threads WHEN (NEW.value_id IS NOT NULL) BEGIN
  UPDATE large_values SET expires_at = NULL WHERE id = NEW.value_id;
END;--> statement-breakpoint
CREATE TRIGGER threads_value_changed AFTER UPDATE OF value_id ON threads BEGIN
  UPDATE large_values SET expires_at = NULL WHERE id = NEW.value_id;
  DELETE FROM large_values WHERE id = OLD.value_id AND id IS DISTINCT FROM NEW.value_id;
END;--> statement-breakpoint
CREATE TRIGGER threads_value_removed AFTER DELETE ON threads WHEN (OLD.value_id IS NOT NULL) BEGIN
  DELETE FROM large_values WHERE id = OLD.value_id;
END;--> statement-breakpoint
CREATE TRIGGER thread_items_value_named AFTER INSERT ON thread_items WHEN (NEW.value_id IS NOT NULL) BEGIN
  UPDATE large_values SET expires_at = NULL WHERE id = NEW.value_id;
END;--> statement-breakpoint
CREATE TRIGGER thread_items_value_removed AFTER DELETE ON thread_items WHEN (OLD.value_id IS NOT NULL) BEGIN
  DELETE FROM large_values WHERE id = OLD.value_id;
END;
