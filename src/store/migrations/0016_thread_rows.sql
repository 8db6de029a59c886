CREATE TRIGGER thread_rows_stored AFTER INSERT ON threads BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, 1024)
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER thread_rows_removed AFTER DELETE ON threads BEGIN
  UPDATE account_storage SET bytes = bytes - 1024 WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER thread_item_rows_stored AFTER INSERT ON thread_items BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, 256)
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER thread_item_rows_removed AFTER DELETE ON thread_items BEGIN
  UPDATE account_storage SET bytes = bytes - 256 WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
UPDATE account_storage SET bytes = bytes
  + 1024 * (SELECT COUNT(*) FROM threads WHERE threads.account_id = account_storage.account_id)
  + 256 * (SELECT COUNT(*) FROM thread_items WHERE thread_items.account_id = account_storage.account_id);
